import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { createLogger, pause } from '@rollcall/runtime'
import { connectStore, migrate, type Store } from '@rollcall/store'
import { type Model, Types } from 'mongoose'
import { type Mail, mailSchema } from './mail.model.ts'
import { type MailQueue, startMailQueue, type Work } from './mail-queue.ts'

const logger = createLogger({ service: 'messaging', level: 'silent' })

describe('the queue of mails', () => {
  let store: Store
  let mails: Model<Mail>
  const queues: MailQueue[] = []
  const start = (work: Work) => queues.push(startMailQueue(mails, work, logger))

  before(async () => {
    const dbName = `mail-queue-test-${new Types.ObjectId()}`
    store = await connectStore({ url: process.env.MONGODB_URL!, dbName, logger })
    mails = store.model('Mail', mailSchema)
    await migrate(store, logger)
  })
  afterEach(async () => {
    await Promise.all(queues.splice(0).map(queue => queue.stop()))
    await mails.deleteMany()
  })
  after(async () => {
    await store.connection.dropDatabase()
    await store.close()
  })

  const add = async (organization: Types.ObjectId, count: number, dueAt = new Date()) => {
    const rows = Array.from({ length: count }, (_, number) => ({
      organization,
      key: `${number} ${new Types.ObjectId()}`,
      kind: 'account',
      to: `${number}@example.com`,
      subject: 'S',
      text: 'T',
      from: 'sender@example.com',
      messageId: '<1@example.com>',
      dueAt,
    }))
    await mails.insertMany(rows)
  }
  const until = async (holds: () => boolean) => {
    for (let tries = 0; tries < 1000 && !holds(); tries++) await pause(20)
    assert.ok(holds())
  }
  const end = ({ _id }: Mail) => mails.updateOne({ _id }, { $set: { dueAt: null } })

  it('has each mail worked on once, however many replicas there are', async () => {
    const worked: string[] = []
    const work: Work = async mail => {
      worked.push(String(mail._id))
      await end(mail)
    }
    await add(new Types.ObjectId(), 30)
    for (let replica = 0; replica < 3; replica++) start(work)
    await until(() => worked.length >= 30)
    await pause(500)
    assert.deepEqual([worked.length, new Set(worked).size], [30, 30])
  })

  it('leaves those alone that are not due, or that another worker has', async () => {
    const worked: Mail[] = []
    await add(new Types.ObjectId(), 1, new Date(Date.now() + 60_000))
    start(async mail => void worked.push(mail))
    await pause(1500)
    assert.equal(worked.length, 0)
  })

  it('does not let one organization’s slow mail server keep the others waiting', async () => {
    const [slow, quick] = [new Types.ObjectId(), new Types.ObjectId()]
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    let done = 0
    let hanging = 0
    await add(slow, 60)
    await pause(5)
    await add(quick, 10)
    start(async mail => {
      if (mail.organization.equals(slow)) {
        hanging += 1
        await opened
      } else done += 1
      await end(mail)
    })
    await until(() => done === 10)
    assert.ok(hanging < 20, `${hanging} of the slow ones at once`)
    open()
    await until(() => hanging === 60)
  })

  it('finishes what is under way before it stops', async () => {
    let isDone = false
    const { promise: began, resolve: begin } = Promise.withResolvers<void>()
    await add(new Types.ObjectId(), 1)
    start(async mail => {
      begin()
      await pause(300)
      await end(mail)
      isDone = true
    })
    await began
    await queues.pop()!.stop()
    assert.ok(isDone)
  })
})
