import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { actorOf } from '@rollcall/rpc'
import { Types } from 'mongoose'
import { type Harness, type Person, startHarness, unique } from '../../test/identity.ts'
import { recordingContext } from '../../test/recording-context.ts'
import { deactivateTokensOf } from '../tokens/deactivate-tokens.ts'
import { blockUser } from '../users/block-user.ts'
import { abandonMemberships } from './membership.ts'

describe('the number of commands does not grow with the records', () => {
  let harness: Harness
  let owner: Person
  let recording: Awaited<ReturnType<typeof recordingContext>>
  before(async () => {
    harness = await startHarness()
    owner = await harness.register()
    recording = await recordingContext(harness)
  })
  after(async () => {
    await recording.close()
    await harness.stop()
  })

  const tenant = () => recording.context.collections.of(owner.organizationId)
  const newPerson = async () => new Types.ObjectId((await harness.addPerson(owner.organizationId, 'user')).userId)
  const addInvitations = async (sender: Types.ObjectId, count: number) => {
    const caller = await owner.api.caller()
    const drafts = Array.from({ length: count }, () => {
      const email = `${unique('invited')}@example.com`
      const [workspace, roleId] = [new Types.ObjectId(), new Types.ObjectId()]
      const expiresAt = new Date(Date.now() + 3_600_000)
      const stored = { workspace, roleId, role: 'user', hash: unique('hash'), expiresAt }
      return { ...stored, email, emailKey: email, sender, createdBy: actorOf(caller) }
    })
    return tenant().invitations.insertMany(drafts)
  }
  const addTokens = async (creator: Types.ObjectId, count: number) => {
    const createdBy = actorOf(await owner.api.caller())
    const drafts = Array.from({ length: count }, () => {
      return { hash: unique('hash'), name: unique('token'), tokenPreview: 'preview', createdBy, creator }
    })
    return tenant().tokens.insertMany(drafts)
  }
  const addMemberships = async (user: Types.ObjectId, count: number) => {
    const createdBy = actorOf(await owner.api.caller())
    const role = (await tenant().roles.findOneAndUpdate({ name: 'user' }, { $inc: { membershipCount: count } }))!
    const workspaces = await tenant().workspaces.insertMany(
      Array.from({ length: count }, () => ({ name: 'Workspace', memberCount: 3, createdBy })),
    )
    const drafts = workspaces.map(({ _id, name }) => {
      return { workspace: _id, workspaceName: name, user, role: role.name, roleId: role._id }
    })
    await tenant().members.insertMany(drafts)
    return workspaces
  }
  /** Runs a task and returns the commands of the last attempt of its transaction. */
  const commandsOf = async (task: () => Promise<unknown>) => {
    recording.commands.length = 0
    await task()
    const ofTransactions = recording.commands.filter(({ autocommit }) => autocommit === false)
    const started = ofTransactions.findLastIndex(({ startTransaction }) => startTransaction)
    return ofTransactions.slice(started).map(command => Object.entries(command)[0]!.join(' '))
  }
  const publishedOf = async (type: string, records: readonly { _id: Types.ObjectId }[]) => {
    const entries = await harness.db.collection('outbox').find({ 'event.type': type }).toArray()
    const subjects = new Set(records.map(({ _id }) => String(_id)))
    return entries.flatMap(({ event }) => event).filter(each => each.type === type && subjects.has(each.subject)).length
  }
  const trailedSince = (at: Date, type: string) =>
    harness.db
      .collection('activities')
      .countDocuments({ user: new Types.ObjectId(owner.userId), type, at: { $gte: at } })

  it('when a sender of invitations is blocked', async () => {
    const caller = await owner.api.caller()
    const block = async (count: number) => {
      const sender = await newPerson()
      const sent = await addInvitations(sender, count)
      const startedAt = new Date()
      const commands = await commandsOf(() => blockUser(recording.context, String(sender), caller))
      assert.equal(await tenant().invitations.count({ sender }), 0)
      assert.equal(await publishedOf('invitation.revoked', sent), count)
      assert.equal(await trailedSince(startedAt, 'invitation.revoked'), count)
      return commands
    }
    assert.deepEqual(await block(3), await block(1))
  })

  it('when the tokens of a person are deactivated', async () => {
    const caller = await owner.api.caller()
    const deactivate = async (count: number) => {
      const creator = await newPerson()
      const made = await addTokens(creator, count)
      const startedAt = new Date()
      const commands = await commandsOf(() =>
        recording.context.store.transaction(tx => deactivateTokensOf(recording.context, creator, caller, tx)),
      )
      assert.equal(await tenant().tokens.count({ creator, active: true }), 0)
      assert.equal(await publishedOf('token.updated', made), count)
      assert.equal(await trailedSince(startedAt, 'token.updated'), count)
      return commands
    }
    assert.deepEqual(await deactivate(3), await deactivate(1))
  })

  it('when the memberships of a person end', async () => {
    const membershipsOf = async () => (await tenant().roles.findOne({ name: 'user' }))!.membershipCount
    const abandon = async (count: number) => {
      const user = await newPerson()
      const before = await membershipsOf()
      const workspaces = await addMemberships(user, count)
      const commands = await commandsOf(() =>
        recording.context.store.transaction(tx => abandonMemberships(tenant(), user, tx)),
      )
      const ids = workspaces.map(({ _id }) => _id)
      assert.equal(await tenant().workspaces.count({ _id: { $in: ids }, memberCount: 2 }), count)
      assert.equal(await tenant().members.count({ user, gone: true }), count)
      assert.equal(await membershipsOf(), before)
      return commands
    }
    assert.deepEqual(await abandon(3), await abandon(1))
  })
})
