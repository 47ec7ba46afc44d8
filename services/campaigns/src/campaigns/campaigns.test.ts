import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '@rollcall/contract'
import type { CampaignJson, PreviewJson, TemplateJson } from '@rollcall/protos/gen/campaigns-v1.ts'
import type { Events } from '@rollcall/protos/gen/events.ts'
import type { Caller, Client } from '@rollcall/rpc'
import { within } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { Types } from 'mongoose'
import {
  jsonOf,
  type Page,
  startTestCampaigns,
  streamedJsonOf,
  type TestCampaigns,
  testCaller,
  textOf,
} from '../../test/campaigns.ts'
import {
  type CampaignAction,
  type CampaignStatus,
  campaignStatuses,
  statusAfter,
  transitions,
} from './campaign-states.ts'

type Me = { caller: Caller }

const nobody = String(new Types.ObjectId())
const HTML = '<p>Hello {{ contact.name }}</p><a href="{{ unsubscribe_url }}">Leave</a>'

describe('the states of a campaign', () => {
  // Written out again, as the specification has it.
  const table: Record<CampaignAction, Partial<Record<CampaignStatus, CampaignStatus>>> = {
    update: { draft: 'draft', scheduled: 'scheduled' },
    delete: { draft: 'draft', scheduled: 'scheduled' },
    changeRate: { draft: 'draft', scheduled: 'scheduled', sending: 'sending' },
    start: { draft: 'sending', scheduled: 'sending' },
    schedule: { draft: 'scheduled', scheduled: 'scheduled' },
    pause: { sending: 'paused' },
    resume: { paused: 'sending' },
    cancel: { scheduled: 'draft', sending: 'cancelled', paused: 'cancelled' },
    retry: { sent: 'sending', paused: 'sending', failed: 'sending' },
  }
  it('change as specified, and are refused otherwise', () => {
    for (const action of Object.keys(transitions) as CampaignAction[])
      for (const status of campaignStatuses) {
        const next = table[action][status]
        if (next) assert.equal(statusAfter(action, status), next, `${action} in ${status}`)
        else
          assert.throws(() => statusAfter(action, status), { code: 'campaign.wrong_status' }, `${action} in ${status}`)
      }
  })
})

describe('campaigns', () => {
  let service: TestCampaigns
  let campaigns: Client<'rollcall.campaigns.v1.Campaigns'>
  let templates: Client<'rollcall.campaigns.v1.Templates'>
  before(async () => {
    service = await startTestCampaigns()
    campaigns = service.client('rollcall.campaigns.v1.Campaigns')
    templates = service.client('rollcall.campaigns.v1.Templates')
  })
  after(() => service.stop())

  const create = (me: Me, rest: object = {}) =>
    jsonOf<CampaignJson>(
      campaigns.createCampaign(
        {
          name: 'Spring',
          subject: 'Hi {{ contact.name }}',
          html: HTML,
          lists: [],
          segments: [],
          excludeLists: [],
          ...rest,
        },
        me,
      ),
    )
  const get = (me: Me, id: string) => jsonOf<CampaignJson>(campaigns.getCampaign({ id }, me))
  const start = (me: Me, id: string) => jsonOf<CampaignJson>(campaigns.startCampaign({ id }, me))
  /** A list that exists, with contacts on it. */
  const listOf = (me: Me, ...people: object[]) => {
    const id = String(new Types.ObjectId())
    service.audience.known.add(id)
    for (const [index, rest] of people.entries())
      service.audience.add(me.caller.organizationId, `contact${index}-${id}@example.com`, { lists: [id], ...rest })
    return id
  }
  const ready = async (me: Me, count = 2, rest: object = {}) =>
    create(me, { lists: [listOf(me, ...Array.from({ length: count }, () => ({})))], ...rest })
  const reached = (me: Me, id: string, status: CampaignStatus) =>
    eventually(`the campaign is ${status}`, async () => {
      const campaign = await get(me, id)
      return campaign.status === status && campaign
    })
  const isTaken = (id: string) =>
    eventually('the audience is taken', () => service.messaging.mailings.get(id)?.isClosed)
  const typesOf = async (id: string) => (await service.eventsOf(id)).map(({ type }) => type.replace('campaign.', ''))

  it('are made, read, updated, duplicated and deleted', async () => {
    const me = testCaller()
    const list = listOf(me)
    const made = await create(me, {
      lists: [list, list],
      preheader: 'Soon',
      ratePerMinute: 60,
      track: { opens: true, clicks: true },
    })
    assert.deepEqual(
      [made.status, made.lists, made.preheader, made.ratePerMinute, made.template, made.sender],
      ['draft', [list], 'Soon', 60, null, null],
    )
    assert.deepEqual(made.track, { opens: true, clicks: true })
    assert.deepEqual(made.counts.suppressed, { blocked: 0, unsubscribed: 0, address: 0 })
    assert.equal(made.createdBy.id, me.caller.userId)
    assert.deepEqual(await get(me, made.id), made)
    await campaigns.updateCampaign({ id: made.id, lists: [], preheader: '', ratePerMinute: 0, name: 'Summer' }, me)
    const changed = await get(me, made.id)
    assert.deepEqual(
      [changed.lists, changed.preheader, changed.ratePerMinute, changed.name],
      [[], null, null, 'Summer'],
    )
    const copy = await jsonOf<CampaignJson>(campaigns.duplicateCampaign({ id: made.id }, me))
    assert.deepEqual([copy.name, copy.status, copy.html, copy.track], ['Copy of Summer', 'draft', HTML, made.track])
    assert.deepEqual((await create(me)).track, { opens: false, clicks: false })
    service.tracking.set(me.caller.organizationId, { opens: true, clicks: false })
    assert.deepEqual((await create(me)).track, { opens: true, clicks: false })
    const own = { opens: false, clicks: true }
    assert.deepEqual((await create(me, { track: own })).track, own)
    const page = await streamedJsonOf<Page<CampaignJson>>(
      campaigns.listCampaigns({ list: { filter: '{"status":"draft"}' } }, me),
    )
    assert.deepEqual(
      page.docs.map(({ id }) => id).filter(id => [copy.id, made.id].includes(id)),
      [copy.id, made.id],
    )
    assert.deepEqual(await jsonOf(campaigns.deleteCampaign({ id: made.id }, me)), changed)
    await assert.rejects(get(me, made.id), { code: 'campaign.not_found' })
    assert.deepEqual(await typesOf(made.id), ['created', 'updated', 'deleted'])
    const { changed: fields, changes } = (await service.eventsOf(made.id))[1]!
      .data as unknown as Events['campaign.updated']
    assert.ok(fields.includes('name'))
    assert.deepEqual(changes.name, { from: 'Spring', to: 'Summer' })
    assert.deepEqual(await typesOf(copy.id), ['created'])
  })

  it('name only what exists and parses', async () => {
    const me = testCaller()
    const known = listOf(me)
    const made = await create(me)
    service.messaging.refusals.set(nobody, new AppError('sender.unknown', { path: 'sender' }))
    const bad = [
      [{ lists: [known, nobody] }, { code: 'list.unknown', path: 'lists.1' }],
      [{ excludeLists: [nobody] }, { code: 'list.unknown', path: 'excludeLists.0' }],
      [{ segments: [nobody] }, { code: 'segment.unknown', path: 'segments.0' }],
      [{ sender: nobody }, { code: 'sender.unknown', path: 'sender' }],
      [
        { template: nobody, html: '' },
        { code: 'template.unknown', path: 'template' },
      ],
      [
        { template: nobody, html: 'x' },
        { code: 'request.extra_field', path: 'template' },
      ],
      [{ html: '{% if %}' }, { code: 'request.invalid_field', path: 'html' }],
      [{ preheader: '{{ a' }, { code: 'request.invalid_field', path: 'preheader' }],
    ] as const
    for (const [change, refusal] of bad) {
      await assert.rejects(create(me, change), refusal)
      await assert.rejects(campaigns.updateCampaign({ id: made.id, ...change } as never, me), refusal)
    }
    assert.deepEqual(await get(me, made.id), made)
  })

  it('use a template instead of content of their own, which is then in use', async () => {
    const me = testCaller()
    const template = await jsonOf<TemplateJson>(templates.createTemplate({ name: 'News', html: `${HTML} T` }, me))
    const list = listOf(me, {})
    const made = await create(me, { html: '', template: template.id, lists: [list] })
    assert.deepEqual([made.template, made.html], [template.id, null])
    await assert.rejects(templates.deleteTemplate({ id: template.id }, me), { code: 'template.in_use' })
    const shown = await jsonOf<PreviewJson>(campaigns.previewCampaign({ id: made.id }, me))
    assert.match(shown.html!, / T$/)
    const unsaved = { subject: 'New', html: '<p>{{ contact.email }}</p>' }
    const unstored = await jsonOf<PreviewJson>(campaigns.previewCampaign({ id: made.id, ...unsaved }, me))
    assert.deepEqual([unstored.subject, /<p>contact0-.*@/.test(unstored.html!)], ['New', true])
    assert.equal((await get(me, made.id)).template, template.id)
    await start(me, made.id)
    await isTaken(made.id)
    assert.equal(service.messaging.mailings.get(made.id)?.content.html, `${HTML} T`)
    service.messaging.send(made.id)
    await reached(me, made.id, 'sent')
    await templates.updateTemplate({ id: template.id, html: `${HTML} changed` }, me)
    const htmlSent = async () => (await jsonOf<PreviewJson>(campaigns.previewCampaign({ id: made.id }, me))).html
    assert.match((await htmlSent())!, / T$/)
    const copyOf = (id: string) => jsonOf<CampaignJson>(campaigns.duplicateCampaign({ id }, me))
    const using = await copyOf(made.id)
    assert.deepEqual([using.template, using.html], [template.id, null])
    await campaigns.deleteCampaign({ id: using.id }, me)
    await templates.deleteTemplate({ id: template.id }, me)
    assert.match((await htmlSent())!, / T$/)
    await campaigns.testCampaign({ id: made.id, to: ['me@example.com'] }, me)
    assert.equal(service.messaging.tests.at(-1)!.html, `${HTML} T`)
    const copy = await copyOf(made.id)
    assert.deepEqual([copy.template, copy.html, copy.text], [null, `${HTML} T`, null])

    const other = await create(me, { html: 'own' })
    const second = await jsonOf<TemplateJson>(templates.createTemplate({ name: 'News', html: HTML }, me))
    await campaigns.updateCampaign({ id: other.id, template: second.id }, me)
    assert.equal((await get(me, other.id)).html, null)
    await campaigns.updateCampaign({ id: other.id, html: 'own' }, me)
    assert.equal((await get(me, other.id)).template, null)
  })

  it('do not start before they are ready, and say what is missing first', async () => {
    const me = testCaller()
    const refusal = async (rest: object, count = 1) => {
      const { id } = await ready(me, count, rest)
      const { message } = await start(me, id).then(
        () => assert.fail('it started'),
        (error: AppError) => {
          assert.equal(error.code, 'campaign.not_ready')
          return error
        },
      )
      await assert.rejects(campaigns.scheduleCampaign({ id, at: soon(60_000) }, me), {
        code: 'campaign.not_ready',
        message,
      })
      const { ready: isReady, checks } = await campaigns.reviewCampaign({ id }, me)
      assert.deepEqual([isReady, checks.find(({ state }) => state === 'failed')?.reason], [false, message])
      assert.equal((await get(me, id)).status, 'draft')
      assert.equal(service.messaging.mailings.has(id), false)
      return message
    }
    service.messaging.refusals.set('default', new AppError('sender.unknown', { path: 'sender' }))
    assert.match(await refusal({ html: '' }), /no such sender/) // named before the content
    service.messaging.refusals.delete('default')
    assert.match(await refusal({}, 0), /no contact is left/)
    const gone = listOf(me, { unsubscribed: true }, { blocked: true })
    assert.match(await refusal({ lists: [gone] }), /no contact is left/)
    assert.match(await refusal({ html: '' }), /has no content/)
    assert.match(await refusal({ html: '<p>Hello</p>' }), /^html: the unsubscribe link is missing/)
    assert.match(await refusal({ text: 'Hello' }), /^text: the unsubscribe link is missing/)
    const loop = '{% for i in (1..2000) %}'
    const slow = `${HTML}{% if contact.attributes.slow %}${loop}${loop}{% endfor %}{% endfor %}{% endif %}`
    const slowOnes = listOf(me, {}, {}, { attributes: { slow: true } })
    assert.match(await refusal({ html: slow, lists: [slowOnes] }), /^invalid field -> html: takes longer than 50 ms/)
  })

  it('are reviewed check by check, with the counts of their audience', async () => {
    const me = testCaller()
    const excluded = listOf(me)
    const list = listOf(me, {}, {}, { unsubscribed: true }, { blocked: true }, { lists: [excluded] })
    service.audience.add(me.caller.organizationId, 'left-out@example.com', { lists: [list, excluded] })
    const audience = { recipients: 2, excluded: 1, blocked: 1, unsubscribed: 1, address: 0 }
    const selection = { lists: [list], segments: [], excludeLists: [excluded] }
    assert.deepEqual(await campaigns.countCampaignAudience(selection, me), audience)
    const { id } = await create(me, selection)
    const checks = (['sender', 'audience', 'content', 'rendering', 'unsubscribe'] as const).map(check => ({
      check,
      state: 'ok' as const,
    }))
    assert.deepEqual(await campaigns.reviewCampaign({ id }, me), { ready: true, checks, audience })
    await campaigns.updateCampaign({ id, html: '' }, me)
    const { checks: missing } = await campaigns.reviewCampaign({ id }, me)
    assert.deepEqual(
      missing.map(({ state }) => state),
      ['ok', 'ok', 'failed', 'open', 'open'],
    )
    await assert.rejects(campaigns.countCampaignAudience({ ...selection, lists: [nobody] }, me), {
      code: 'list.unknown',
      path: 'lists.0',
    })
  })

  it('reach each contact of their audience once, and finish', async () => {
    const me = testCaller()
    const [one, two] = [listOf(me, {}, {}), listOf(me, { unsubscribed: true })]
    const excluded = listOf(me)
    const both = service.audience.add(me.caller.organizationId, 'both@example.com', { lists: [one, two] })
    service.audience.add(me.caller.organizationId, 'not@example.com', { lists: [one, excluded] })
    const { id } = await create(me, { lists: [one, two], excludeLists: [excluded] })
    const started = await start(me, id)
    assert.equal(started.status, 'sending')
    assert.ok(started.startedAt)
    await isTaken(id)
    const mailing = service.messaging.mailings.get(id)!
    assert.equal(mailing.recipients.length, 4)
    assert.ok(mailing.recipients.includes(both.id))
    assert.deepEqual([mailing.content.subject, mailing.content.campaignName], ['Hi {{ contact.name }}', 'Spring'])
    assert.deepEqual(mailing.content.track, { opens: false, clicks: false })
    mailing.counts = { sent: 2, suppressed: { blocked: 0, unsubscribed: 1, address: 0 } }
    await eventually('the counts are copied', async () => (await get(me, id)).counts.sent === 2)
    assert.deepEqual((await get(me, id)).counts.waiting, 1)
    mailing.counts = { sent: 3, suppressed: { blocked: 0, unsubscribed: 1, address: 0 }, opened: 1 }
    const { counts, finishedAt } = await reached(me, id, 'sent')
    assert.deepEqual([counts.recipients, counts.sent, counts.suppressed.unsubscribed, counts.opened], [4, 3, 1, 1])
    assert.ok(finishedAt)
    assert.deepEqual(await typesOf(id), ['created', 'started', 'finished'])
    for (const attempt of [
      () => start(me, id),
      () => campaigns.updateCampaign({ id, name: 'Late' }, me),
      () => campaigns.deleteCampaign({ id }, me),
      () => campaigns.pauseCampaign({ id }, me),
      () => campaigns.resumeCampaign({ id }, me),
      () => campaigns.cancelCampaign({ id }, me),
      () => campaigns.scheduleCampaign({ id, at: soon(60_000) }, me),
    ])
      await assert.rejects(async () => attempt(), { code: 'campaign.wrong_status' })
    await assert.rejects(campaigns.retryCampaign({ id }, me), { code: 'campaign.nothing_failed' })
  })

  it('pause, resume, change their rate and are cancelled', async () => {
    const me = testCaller()
    const { id } = await ready(me)
    await start(me, id)
    await isTaken(id)
    const mailing = service.messaging.mailings.get(id)!
    await campaigns.updateCampaign({ id, ratePerMinute: 5 }, me)
    assert.equal(service.messaging.mailings.get(id)!.content.ratePerMinute, 5)
    await assert.rejects(campaigns.updateCampaign({ id, ratePerMinute: 5, name: 'x' }, me), {
      code: 'campaign.wrong_status',
    })
    assert.equal((await jsonOf<CampaignJson>(campaigns.pauseCampaign({ id }, me))).status, 'paused')
    assert.equal(service.messaging.mailings.get(id)!.state, 'paused')
    assert.equal((await jsonOf<CampaignJson>(campaigns.resumeCampaign({ id }, me))).status, 'sending')
    assert.equal(service.messaging.mailings.get(id)!.state, 'sending')
    assert.equal((await jsonOf<CampaignJson>(campaigns.cancelCampaign({ id }, me))).status, 'cancelled')
    assert.equal(service.messaging.mailings.get(id)!.state, 'cancelled')
    assert.equal(mailing.recipients.length, 2)
    assert.deepEqual(await typesOf(id), ['created', 'started', 'updated', 'paused', 'resumed', 'cancelled'])
  })

  it('bring their mails to the state that they are in, where a process died between the two', async () => {
    const me = testCaller()
    const { id } = await ready(me)
    await start(me, id)
    await isTaken(id)
    const mailing = service.messaging.mailings.get(id)!
    mailing.state = 'paused'
    await eventually('the mails are sent again', () => mailing.state === 'sending')
    await campaigns.pauseCampaign({ id }, me)
    mailing.state = 'sending'
    await eventually('the mails are paused again', () => mailing.state === 'paused')
    assert.equal((await get(me, id)).status, 'paused')
    assert.deepEqual(await typesOf(id), ['created', 'started', 'paused'])
  })

  it('say who cancelled them, even if their job sees the mails cancelled first', async () => {
    const me = testCaller()
    const { id } = await ready(me)
    await start(me, id)
    await isTaken(id)
    const { messaging } = service
    const [isLooking, mayLook] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    messaging.onGet = async () => {
      isLooking.resolve()
      await mayLook.promise
    }
    messaging.onState = async () => {
      mayLook.resolve()
      await pause(200) // a lead for the job
    }
    await isLooking.promise
    await campaigns
      .cancelCampaign({ id }, me)
      .finally(() => Object.assign(messaging, { onGet: undefined, onState: undefined }))
    const cancelled = (await service.eventsOf(id)).filter(({ type }) => type === 'campaign.cancelled')
    const actors = cancelled.map(({ data }) => (data as Events['campaign.cancelled']).actor.id)
    assert.deepEqual(actors, [me.caller.userId])
  })

  it('pause by themselves with a reason, and go on with those who failed', async () => {
    const me = testCaller()
    const { id } = await ready(me)
    await start(me, id)
    await isTaken(id)
    Object.assign(service.messaging.mailings.get(id)!, { state: 'paused', pausedReason: 'the sender was deleted' })
    assert.equal((await reached(me, id, 'paused')).pausedReason, 'the sender was deleted')
    assert.deepEqual(await typesOf(id), ['created', 'started', 'paused'])
    service.messaging.mailings.get(id)!.failed = 1
    const retried = await jsonOf<CampaignJson>(campaigns.retryCampaign({ id }, me))
    assert.deepEqual([retried.status, retried.pausedReason], ['sending', null])
    service.messaging.send(id)
    await reached(me, id, 'sent')
    assert.deepEqual(await typesOf(id), ['created', 'started', 'paused', 'retried', 'finished'])
  })

  it('pause with the reason when their segment is outdated, and take the rest of the audience once resumed', async () => {
    const me = testCaller()
    const { id } = await ready(me, 1001)
    const { audience, messaging } = service
    messaging.onQueue = () => {
      audience.failure = new AppError('segment.outdated', { reason: 'attributes.plan is not a field' })
    }
    try {
      await start(me, id)
      assert.match((await reached(me, id, 'paused')).pausedReason!, /attributes\.plan is not a field$/)
      const { state, recipients } = messaging.mailings.get(id)!
      assert.deepEqual([state, recipients.length], ['paused', 1000])
      await campaigns.resumeCampaign({ id }, me)
      await eventually('it pauses again', async () => (await typesOf(id)).length === 5)
    } finally {
      Object.assign(messaging, { onQueue: undefined })
      audience.failure = undefined
    }
    await campaigns.resumeCampaign({ id }, me)
    await isTaken(id)
    assert.equal(messaging.mailings.get(id)!.recipients.length, 1001)
    messaging.send(id)
    await reached(me, id, 'sent')
    assert.deepEqual(await typesOf(id), ['created', 'started', 'paused', 'resumed', 'paused', 'resumed', 'finished'])
  })

  it('complete a retry that was interrupted when it is repeated', async () => {
    const me = testCaller()
    const { id } = await ready(me)
    await start(me, id)
    await isTaken(id)
    const { messaging } = service
    Object.assign(messaging.mailings.get(id)!, { failed: 1, counts: { sent: 1 } })
    await reached(me, id, 'sent')
    messaging.onRetry = () => {
      throw new AppError('service.unavailable')
    }
    try {
      await assert.rejects(campaigns.retryCampaign({ id }, me), { code: 'service.unavailable' })
    } finally {
      messaging.onRetry = undefined
    }
    assert.equal((await get(me, id)).status, 'sent')
    const retried = await jsonOf<CampaignJson>(campaigns.retryCampaign({ id }, me))
    assert.deepEqual([retried.status, retried.finishedAt], ['sending', null])
    messaging.mailings.get(id)!.counts = { sent: 2 }
    await reached(me, id, 'sent')
    await assert.rejects(campaigns.retryCampaign({ id }, me), { code: 'campaign.nothing_failed' })
  })

  /** Lets the time of a scheduled campaign come. */
  const makeDue = (id: string) => {
    const now = new Date()
    const due = { $set: { scheduledAt: now, dueAt: now } }
    return service.db.collection('campaigns').updateOne({ _id: new Types.ObjectId(id) }, due)
  }

  it('start at their time, or fail with the reason', async () => {
    const me = testCaller()
    const { id } = await ready(me)
    for (const at of [soon(-1000), soon(400 * 24 * 3_600_000)])
      await assert.rejects(campaigns.scheduleCampaign({ id, at }, me), { code: 'request.invalid_field', path: 'at' })
    const at = soon(3_600_000)
    const scheduled = await jsonOf<CampaignJson>(campaigns.scheduleCampaign({ id, at }, me))
    assert.deepEqual([scheduled.status, scheduled.scheduledAt], ['scheduled', at])
    const draft = await jsonOf<CampaignJson>(campaigns.cancelCampaign({ id }, me))
    assert.deepEqual([draft.status, draft.scheduledAt], ['draft', null])
    await campaigns.scheduleCampaign({ id, at }, me)
    await makeDue(id)
    await reached(me, id, 'sending')
    assert.deepEqual(await typesOf(id), ['created', 'scheduled', 'unscheduled', 'scheduled', 'started'])

    const other = await ready(me)
    await campaigns.scheduleCampaign({ id: other.id, at: soon(3_600_000) }, me)
    await campaigns.updateCampaign({ id: other.id, html: '<p>No link</p>' }, me)
    await makeDue(other.id)
    assert.match((await reached(me, other.id, 'failed')).failedReason!, /unsubscribe link is missing/)
    assert.equal(service.messaging.mailings.has(other.id), false)
    assert.deepEqual(await typesOf(other.id), ['created', 'scheduled', 'updated', 'failed'])
  })

  /** Runs an action while a mailing is stored: at the start of a campaign, of which everything was checked, for example. */
  const whileItIsPut = async (begin: () => Promise<unknown>, act: () => Promise<unknown>) => {
    const { messaging } = service
    const [isPutting, mayPut] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    messaging.onPut = () => {
      messaging.onPut = undefined // not those of the action
      isPutting.resolve()
      return mayPut.promise
    }
    try {
      const begun = begin()
      const stored = begun.then(() => isPutting.promise)
      await within(scaledTimeout(20_000), 'the start', () => Promise.race([isPutting.promise, stored]))
      await act()
      mayPut.resolve()
      return await begun
    } finally {
      messaging.onPut = undefined
      mayPut.resolve()
    }
  }

  it('do not start once they were cancelled, put off or changed, though all was checked before', async () => {
    const me = testCaller()
    const { id } = await ready(me)
    const schedule = (at = soon(scaledTimeout(300))) => campaigns.scheduleCampaign({ id, at }, me)
    await whileItIsPut(schedule, () => campaigns.cancelCampaign({ id }, me))
    assert.equal((await get(me, id)).status, 'draft')
    await whileItIsPut(schedule, () => schedule(soon(3_600_000)))
    await campaigns.updateCampaign({ id, subject: 'Other' }, me)
    assert.equal((await get(me, id)).status, 'scheduled')
    await whileItIsPut(schedule, () => campaigns.updateCampaign({ id, subject: 'Last' }, me))
    await reached(me, id, 'sending')
    assert.equal(service.messaging.mailings.get(id)?.content.subject, 'Last')
    const begun = ['created', 'scheduled', 'unscheduled', 'scheduled', 'scheduled', 'updated', 'scheduled', 'updated']
    assert.deepEqual(await typesOf(id), [...begun, 'started'])

    const other = await ready(me)
    const change = () => campaigns.updateCampaign({ id: other.id, html: `${HTML} changed` }, me)
    await assert.rejects(
      whileItIsPut(() => start(me, other.id), change),
      { code: 'campaign.changed' },
    )
    assert.equal((await get(me, other.id)).status, 'draft')
    assert.equal(service.messaging.mailings.get(other.id)?.state, 'prepared')
  })

  it('send what their start checked, though another start stores its content last', async () => {
    const me = testCaller()
    const template = await jsonOf<TemplateJson>(templates.createTemplate({ name: 'Late', html: HTML }, me))
    const changes = [
      (id: string) => campaigns.updateCampaign({ id, subject: 'Last' }, me),
      () => templates.updateTemplate({ id: template.id, html: `${HTML} Last` }, me),
    ]
    for (const change of changes) {
      const { id } = await ready(me, 2, { html: '', template: template.id })
      const overtaken = whileItIsPut(
        () => start(me, id),
        async () => {
          await change(id)
          await start(me, id)
        },
      )
      await assert.rejects(overtaken, { code: 'campaign.wrong_status' })
      const { subject, html } = service.messaging.mailings.get(id)!.content
      assert.match(`${subject} ${html}`, /Last/)
    }
  })

  it('start by the newest of concurrent starts, because its content is sent', async () => {
    const me = testCaller()
    const { messaging } = service
    const template = await jsonOf<TemplateJson>(templates.createTemplate({ name: 'Both', html: HTML }, me))
    const { id } = await ready(me, 2, { html: '', template: template.id })
    const mayPut: (() => void)[] = []
    messaging.onPut = () => new Promise(resolve => mayPut.push(resolve))
    const startHeld = async () => {
      const held = mayPut.length + 1
      const started = start(me, id)
      await eventually('its content is being stored', () => mayPut.length === held)
      return { started, go: mayPut.at(-1)! }
    }
    try {
      const older = await startHeld()
      await templates.updateTemplate({ id: template.id, html: `${HTML} Last` }, me)
      const newer = await startHeld()
      older.go()
      await assert.rejects(older.started, { code: 'campaign.changed' })
      newer.go()
      assert.equal((await newer.started).status, 'sending')
    } finally {
      messaging.onPut = undefined
      for (const go of mayPut) go()
    }
    assert.match(messaging.mailings.get(id)!.content.html!, /Last$/)
    assert.match((await jsonOf<PreviewJson>(campaigns.previewCampaign({ id }, me))).html!, /Last$/)
  })

  it('keep the rate that was set last, whichever reaches their mails last', async () => {
    const me = testCaller()
    const { id } = await ready(me)
    await start(me, id)
    await isTaken(id)
    const setRate = (ratePerMinute: number) => campaigns.updateCampaign({ id, ratePerMinute }, me)
    await whileItIsPut(
      () => setRate(5),
      () => setRate(7),
    )
    assert.equal((await get(me, id)).ratePerMinute, 7)
    assert.equal(service.messaging.mailings.get(id)!.content.ratePerMinute, 7)
  })

  describe('that are scheduled', () => {
    const senderOf = ({ caller }: Me) => {
      const id = String(new Types.ObjectId())
      service.messaging.owners.set(id, caller.userId!)
      return id
    }
    const schedule = (me: Me, id: string, ms = 3_600_000) => campaigns.scheduleCampaign({ id, at: soon(ms) }, me)
    /** Makes a campaign due that is scheduled for later. */
    const makeDue = (id: string) =>
      service.db.collection('campaigns').updateOne({ _id: new Types.ObjectId(id) }, { $set: { dueAt: new Date() } })
    const startedFor = async (me: Me, id: string) => {
      await makeDue(id)
      await reached(me, id, 'sending')
      return service.messaging.mailings.get(id)!.content.userId
    }

    it('are changed only by those who may use their sender, but for the rate', async () => {
      const me = testCaller()
      const other = testCaller(me.caller.organizationId)
      const { id } = await ready(me, 1, { sender: senderOf(me) })
      await campaigns.updateCampaign({ id, text: 'By another {{ unsubscribe_url }}' }, other)
      await schedule(me, id)
      const before = await get(me, id)
      const changes = [{ html: `${HTML} by another` }, { subject: 'By another' }, { lists: [listOf(me, {})] }]
      for (const change of changes)
        await assert.rejects(campaigns.updateCampaign({ id, ...change }, other), {
          code: 'campaign.not_ready',
          message: /no such sender/,
        })
      assert.deepEqual(await get(me, id), before)
      await campaigns.updateCampaign({ id, ratePerMinute: 100 }, other)
      await campaigns.updateCampaign({ id, subject: 'Mine' }, me)
      assert.equal(await startedFor(me, id), me.caller.userId)
    })

    it('are not changed by those who were not checked because they were a draft', async () => {
      const me = testCaller()
      const other = testCaller(me.caller.organizationId)
      const { id, lists } = await ready(me, 1, { sender: senderOf(me) })
      service.audience.onCheck = async () => {
        service.audience.onCheck = undefined
        await schedule(me, id)
      }
      await assert.rejects(campaigns.updateCampaign({ id, lists, subject: 'By another' }, other), {
        code: 'campaign.changed',
      })
      assert.equal((await get(me, id)).subject, 'Hi {{ contact.name }}')
    })

    it('start for who changed them last', async () => {
      const me = testCaller()
      const other = testCaller(me.caller.organizationId)
      const { id } = await ready(me, 1, { sender: senderOf(me) })
      await schedule(me, id)
      await campaigns.updateCampaign({ id, sender: senderOf(other) }, other)
      assert.equal(await startedFor(me, id), other.caller.userId)
    })

    it('start for the creator of the token that scheduled them', async () => {
      const me = testCaller()
      const token = { caller: { ...me.caller, kind: 'token' as const, tokenId: nobody, tokenName: 'Token' } }
      const { id } = await ready(me, 1, { sender: senderOf(me) })
      await schedule(token, id)
      assert.equal(await startedFor(me, id), me.caller.userId)
    })

    it('start for who scheduled them under a former release', async () => {
      const me = testCaller()
      const { id } = await ready(me, 1, { sender: senderOf(me) })
      await schedule(me, id)
      const former = { $unset: { scheduledFor: 1, revision: 1 } }
      await service.db.collection('campaigns').updateOne({ _id: new Types.ObjectId(id) }, former)
      assert.equal(await startedFor(me, id), me.caller.userId)
    })

    it('fail at their time if their sender may be used no more', async () => {
      const me = testCaller()
      const sender = senderOf(me)
      const { id } = await ready(me, 1, { sender })
      await schedule(me, id)
      service.messaging.owners.set(sender, nobody)
      await makeDue(id)
      assert.match((await reached(me, id, 'failed')).failedReason!, /no such sender/)
      assert.equal(service.messaging.mailings.has(id), false)
    })
  })

  it('change nothing while messaging or the audience is down', async () => {
    const me = testCaller()
    const { id } = await ready(me)
    const isDown = { code: 'service.unavailable' }
    for (const double of [service.messaging, service.audience]) {
      double.failure = new AppError('service.unavailable')
      try {
        await assert.rejects(start(me, id), isDown)
        assert.equal((await get(me, id)).status, 'draft')
      } finally {
        double.failure = undefined
      }
    }
    await start(me, id)
    await isTaken(id)
    service.messaging.failure = new AppError('service.unavailable')
    try {
      await assert.rejects(campaigns.pauseCampaign({ id }, me), isDown)
      assert.equal((await get(me, id)).status, 'sending')
    } finally {
      service.messaging.failure = undefined
    }
  })

  it('show their recipients, counts over time and a file; nothing before the start', async () => {
    const me = testCaller()
    const { id } = await ready(me, 3)
    const results = async () => ({
      page: await streamedJsonOf<Page<object>>(campaigns.listCampaignRecipients({ id, list: {} }, me)),
      report: await campaigns.getCampaignReport({ id, interval: 'hour' }, me),
      file: await textOf(campaigns.exportCampaign({ id }, me)),
    })
    const before = await results()
    assert.deepEqual([before.page.docs, before.report.series, before.report.links], [[], [], []])
    assert.equal(before.report.counts?.recipients, 0)
    assert.equal(before.file, '\ufeffemail,contact,status,at,error\r\n')
    await start(me, id)
    await isTaken(id)
    service.messaging.mailings.get(id)!.counts = { sent: 2 }
    const now = await results()
    assert.equal(now.page.totalDocs, 3)
    assert.deepEqual([now.report.counts?.sent, now.report.counts?.waiting, now.report.series[0]?.at], [2, 1, 'hour'])
    assert.deepEqual(now.report.links, [{ url: 'https://example.com/', clicks: 2, contacts: 1 }])
    assert.equal(now.file.split('\r\n').length, 3)
  })

  it('keep their counts by day, also when their mails are gone', async () => {
    const me = testCaller()
    const { id } = await ready(me, 3)
    await start(me, id)
    await isTaken(id)
    const mailing = service.messaging.mailings.get(id)!
    mailing.counts = { sent: 3 }
    await reached(me, id, 'sent')
    const stored = () => service.db.collection('campaigns').findOne({ _id: new Types.ObjectId(id) })
    await eventually('the counts are kept', async () => Boolean((await stored())?.daily))
    mailing.counts = { sent: 1 }
    const { series } = await campaigns.getCampaignReport({ id }, me)
    assert.deepEqual(
      series.map(({ at, sent }) => [at, sent]),
      [['day', 3]],
    )
  })

  it('are tested with the oldest contact, whatever their state', async () => {
    const me = testCaller()
    const { id } = await ready(me, 1, { subject: 'Hi' })
    await campaigns.testCampaign({ id, to: ['me@example.com', 'me@example.com'] }, me)
    assert.deepEqual(await typesOf(id), ['created', 'tested'])
    const sent = service.messaging.tests.at(-1)!
    assert.deepEqual([sent.to, sent.subject, sent.html], [['me@example.com'], '[Test] Hi', HTML])
    assert.match(JSON.stringify(sent.variables), /contact0-/)
    assert.equal((await get(me, id)).status, 'draft')
    const empty = await create(me, { html: '' })
    await assert.rejects(campaigns.testCampaign({ id: empty.id, to: ['me@example.com'] }, me), {
      code: 'campaign.not_ready',
    })
  })

  it('tell who asks which lists and segments they need', async () => {
    const me = testCaller()
    const [list, excluded, segment] = [listOf(me), listOf(me), listOf(me)]
    const { id } = await create(me, { lists: [list], excludeLists: [excluded], segments: [segment] })
    const asked = [{ listId: list }, { listId: excluded }, { segmentId: segment }]
    const answers = async () =>
      Promise.all(asked.map(async each => (await service.uses.findUse(each, me)).campaignName))
    assert.deepEqual(await answers(), ['Spring', 'Spring', 'Spring'])
    assert.deepEqual(await service.uses.findUse({ segmentId: list }, me), {})
    await campaigns.deleteCampaign({ id }, me)
    assert.deepEqual(await answers(), [undefined, undefined, undefined])
  })

  it('are unknown to another organization', async () => {
    const [mine, theirs] = [testCaller(), testCaller()]
    const { id } = await ready(mine)
    const attempts = [
      () => get(theirs, id),
      () => start(theirs, id),
      () => campaigns.updateCampaign({ id, name: 'Theirs' }, theirs),
      () => campaigns.deleteCampaign({ id }, theirs),
      () => campaigns.pauseCampaign({ id }, theirs),
      () => campaigns.resumeCampaign({ id }, theirs),
      () => campaigns.cancelCampaign({ id }, theirs),
      () => campaigns.retryCampaign({ id }, theirs),
      () => campaigns.duplicateCampaign({ id }, theirs),
      () => campaigns.previewCampaign({ id }, theirs),
      () => campaigns.testCampaign({ id, to: ['me@example.com'] }, theirs),
      () => campaigns.getCampaignReport({ id }, theirs),
      () => textOf(campaigns.exportCampaign({ id }, theirs)),
      () => textOf(campaigns.listCampaignRecipients({ id, list: {} }, theirs)),
      () => campaigns.scheduleCampaign({ id, at: soon(60_000) }, theirs),
    ]
    for (const attempt of attempts) await assert.rejects(async () => attempt(), { code: 'campaign.not_found' })
  })
})

function soon(ms: number): string {
  return new Date(Date.now() + ms).toISOString()
}
