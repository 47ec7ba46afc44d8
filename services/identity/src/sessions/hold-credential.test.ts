import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Call, Caller } from '@rollcall/rpc'
import { eventually } from '@rollcall/testing/eventually'
import { Types } from 'mongoose'
import { type Harness, type Person, startHarness, unique } from '../../test/identity.ts'
import { recordingContext } from '../../test/recording-context.ts'
import { createToken } from '../tokens/create-token.ts'
import { tokens } from '../tokens/tokens.ts'
import { invitations } from '../workspaces/invitations.ts'

const badSession = { code: 'session.invalid', status: 401 }
const unknownToken = { code: 'token.invalid', status: 401 }
const blocked = { code: 'account.blocked', status: 403 }

describe('a credential that ends during the request', () => {
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

  const invite = async (caller: Caller) => {
    const { id } = await owner.api.workspaces.createWorkspace({ name: 'Workspace' })
    const request = { id: String(id), email: `${unique('invited')}@example.com`, role: 'user' }
    return invitations(recording.context).createInvitation(request, { caller } as Call)
  }
  const kinds = [
    ['API token', 'tokens', (caller: Caller) => createToken(recording.context, { name: 'late' }, caller)],
    ['invitation', 'invitations', invite],
  ] as const

  it('switches no API token on', async () => {
    const person = await harness.addPerson(owner.organizationId, 'admin')
    const caller = await person.api.caller()
    const { id } = await person.api.tokens.createToken({ name: 'off' })
    await person.api.tokens.updateToken({ id: String(id), active: false })
    await person.api.authentication.logout({})
    const switchOn = tokens(recording.context).updateToken({ id: String(id), active: true }, { caller } as Call)
    await assert.rejects(switchOn, badSession)
  })

  for (const [what, collection, create] of kinds) {
    const countOf = (userId: string) => {
      const by = new Types.ObjectId(userId)
      return harness.db.collection(collection).countDocuments({ $or: [{ sender: by }, { creator: by, name: 'late' }] })
    }

    it(`creates no ${what}`, async () => {
      const person = await harness.addPerson(owner.organizationId, 'admin')
      const bySession = await person.api.caller()
      const { id, token } = await person.api.tokens.createToken({ name: 'early' })
      const byToken = await harness.with(String(token)).caller()
      await owner.api.tokens.updateToken({ id: String(id), active: false })
      await assert.rejects(create(byToken), unknownToken)
      await person.api.authentication.logout({})
      await assert.rejects(create(bySession), badSession)
      await owner.api.users.blockUser({ id: person.userId })
      await assert.rejects(create(bySession), blocked)
      assert.equal(await countOf(person.userId), 0)
    })

    it(`creates no ${what} while its account is recovered`, async test => {
      const person = await harness.addPerson(owner.organizationId, 'admin')
      const caller = await person.api.caller()
      const user = new Types.ObjectId(person.userId)
      const session = harness.db.client.startSession()
      test.after(() => session.endSession())
      session.startTransaction({ writeConcern: { w: 'majority' } })
      await harness.db.collection('users').updateOne({ _id: user }, { $inc: { mails: 1 } }, { session })
      await harness.db.collection('sessions').deleteMany({ user }, { session })
      recording.commands.length = 0
      let isSettled = false
      const creating = create(caller).finally(() => {
        isSettled = true
      })
      const outcome = assert.rejects(creating, badSession)
      outcome.catch(() => undefined) // awaited below
      const isHeld = () => recording.commands.some(({ findAndModify }) => findAndModify === 'users')
      await eventually('a conflict, or a result', () => isSettled || isHeld())
      await session.commitTransaction()
      await outcome
      assert.equal(await countOf(person.userId), 0)
    })
  }
})
