import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { CampaignJson, PreviewJson, TemplateJson } from '@rollcall/protos/gen/campaigns-v1.ts'
import { eventually } from '@rollcall/testing/eventually'
import { type MailServer, startMailServer } from '@rollcall/testing/mail-server'
import { type Answer, bodyOf } from '../api.ts'
import { fromElsewhere, manyAddresses, unknownId } from '../every-route.ts'
import { startStack, type TestStack } from '../stack.ts'
import { unlimitedMail } from './campaign-world.ts'
import { verifiedDomain } from './verified-domain.ts'

type Page<T> = { docs: T[]; totalDocs: number }
type Refusal = { message: string; path?: string; error?: boolean; success?: boolean }
type Status = CampaignJson['status']
type Recipient = { email: string; contact: string; status: string; error: string | null }

const CAMPAIGNS = '/api/emails/campaigns'
const TEMPLATES = '/api/emails/templates'
const LINK = '<a href="{{ unsubscribe_url }}">Leave</a>'
const HTML = `<p>Hello {{ contact.name }}</p>${LINK}`
/** The mail server delays this address, and each mail has one attempt. */
const BUSY = 'busy@example.com'
const HOUR_MS = 3_600_000

const statuses = ['draft', 'scheduled', 'sending', 'paused', 'sent', 'cancelled', 'failed'] as const
/** What each action makes of each status, as the specification has it; elsewhere it is refused. */
const table = {
  update: { draft: 'draft', scheduled: 'scheduled' },
  changeRate: { draft: 'draft', scheduled: 'scheduled', sending: 'sending' },
  delete: { draft: 'gone', scheduled: 'gone' },
  start: { draft: 'sending', scheduled: 'sending' },
  schedule: { draft: 'scheduled', scheduled: 'scheduled' },
  pause: { sending: 'paused' },
  resume: { paused: 'sending' },
  cancel: { scheduled: 'draft', sending: 'cancelled', paused: 'cancelled' },
  retry: { sent: 'sending', paused: 'sending' },
} as const satisfies Record<string, Partial<Record<Status, Status | 'gone'>>>
type Action = keyof typeof table

describe('campaigns and templates over HTTP', () => {
  let relay: MailServer
  let stack: TestStack
  let sender: string
  let readers: string
  let oneReader: string
  let oneBusy: string
  let busyFirst: string
  before(async () => {
    relay = await startMailServer()
    relay.refuse = to => (to === BUSY ? { code: 451, message: '=Try later' } : undefined)
    const server = { SMTP_URL: `smtp://127.0.0.1:${relay.port}`, MAIL_ATTEMPTS: '1' }
    stack = await startStack({ settings: { ...manyAddresses, ...unlimitedMail, ...server } })
    await verifiedDomain(stack, 'news.example.org')
    sender = await idOf('/api/emails/senders', { name: 'News', email: 'news@news.example.org', delivery: 'hosted' })
    busyFirst = await listOf(BUSY, 'one@example.com', 'two@example.com')
    readers = await listOf('one@example.com', 'two@example.com', 'three@example.com')
    oneReader = await listOf('one@example.com')
    oneBusy = await listOf(BUSY)
  })
  after(async () => {
    await stack?.stop()
    await relay?.stop()
  })

  const api = () => fromElsewhere(stack.owner)
  const idOf = async (path: string, body: object) => (await bodyOf(api().post<{ id: string }>(path, body), 201)).id
  const get = (id: string) => bodyOf(api().get<CampaignJson>(`${CAMPAIGNS}/${id}`))
  const post = <T = Refusal>(id: string, action: string, body: object = {}) =>
    api().post<T>(`${CAMPAIGNS}/${id}/${action}`, body)
  const inAnHour = () => new Date(Date.now() + HOUR_MS).toISOString()

  /** Makes a list of contacts, which are made where they are new. */
  async function listOf(...emails: string[]): Promise<string> {
    const list = await idOf('/api/audience-lists', { name: `List ${emails.join(' ')}` })
    for (const email of emails) await api().post('/api/audience', { email, name: 'Reader' })
    if (emails.length > 0) await bodyOf(api().post(`/api/audience-lists/${list}/contacts`, { emails }))
    return list
  }

  const create = (rest: object = {}) =>
    bodyOf(
      api().post<CampaignJson>(CAMPAIGNS, {
        name: 'Spring',
        subject: 'Hi {{ contact.name }}',
        html: HTML,
        sender,
        lists: [readers],
        ...rest,
      }),
      201,
    )
  const reached = (id: string, status: Status) =>
    eventually(`the campaign is ${status}`, async () => {
      const campaign = await get(id)
      return campaign.status === status && campaign
    })
  const send = async (rest: object): Promise<CampaignJson> => {
    const { id } = await create(rest)
    await bodyOf(post(id, 'start'))
    return reached(id, 'sent')
  }

  /** Makes a campaign in a status. One that is being sent sends a mail a minute; the first mail of each failed. */
  async function campaignIn(status: Status): Promise<string> {
    const audience = status === 'sent' ? oneBusy : busyFirst
    const { id } = await create({ lists: [audience], ...(status !== 'sent' && { ratePerMinute: 1 }) })
    const begun = async () => {
      await bodyOf(post(id, 'start'))
      await eventually('the first mail failed', async () => (await get(id)).counts.failed === 1)
    }
    const steps: Record<Status, () => Promise<unknown>> = {
      draft: async () => {},
      scheduled: () => bodyOf(post(id, 'schedule', { at: inAnHour() })),
      sending: begun,
      async paused() {
        await begun()
        await bodyOf(post(id, 'pause'))
      },
      async sent() {
        await begun()
        await reached(id, 'sent')
      },
      async cancelled() {
        await begun()
        await bodyOf(post(id, 'cancel'))
      },
      async failed() {
        await bodyOf(api().patch(`${CAMPAIGNS}/${id}`, { html: '<p>No link</p>' }))
        await failAtItsTime(id)
      },
    }
    await steps[status]()
    return id
  }

  /** Schedules a campaign while it is ready, and takes that away before its time. */
  async function failAtItsTime(id: string): Promise<void> {
    for (let leadMs = 1000; ; leadMs *= 2) {
      await bodyOf(api().patch(`${CAMPAIGNS}/${id}`, { html: HTML }))
      await bodyOf(post(id, 'schedule', { at: new Date(Date.now() + leadMs).toISOString() }))
      const { status } = await api().patch(`${CAMPAIGNS}/${id}`, { html: '<p>No link</p>' })
      if (status !== 409) return void (await reached(id, 'failed'))
      assert.fail('the campaign started before it was changed')
    }
  }

  const act = (id: string, action: Action): Promise<Answer<Refusal>> => {
    switch (action) {
      case 'update':
        return api().patch(`${CAMPAIGNS}/${id}`, { name: 'Changed' })
      case 'changeRate':
        return api().patch(`${CAMPAIGNS}/${id}`, { ratePerMinute: 2 })
      case 'delete':
        return api().delete(`${CAMPAIGNS}/${id}`)
      case 'schedule':
        return post(id, 'schedule', { at: inAnHour() })
      default:
        return post(id, action)
    }
  }

  for (const status of statuses)
    it(`${status}: allows the actions of this status, and refuses the others with 409`, async () => {
      const nextBy = (action: Action) => (table[action] as Partial<Record<Status, Status | 'gone'>>)[status]
      const actions = Object.keys(table) as Action[]
      const spare = Promise.all(actions.filter(nextBy).map(() => campaignIn(status)))
      const [kept, campaigns] = await Promise.all([campaignIn(status), spare])
      const before = await get(kept)
      for (const action of actions) {
        const next = nextBy(action)
        if (next) {
          const id = campaigns.pop()!
          const answer = await act(id, action)
          assert.equal(answer.status, 200, `${action} in ${status}: ${answer.text}`)
          if (next === 'gone') assert.equal((await api().get(`${CAMPAIGNS}/${id}`)).status, 404)
          else if (action === 'retry') assert.match((await get(id)).status, /sending|sent/)
          else assert.equal((await get(id)).status, next, `${action} in ${status}`)
          continue
        }
        const refused = await act(kept, action)
        const code = action === 'retry' && status === 'failed' ? 'campaign.nothing_failed' : 'campaign.wrong_status'
        assert.deepEqual(
          [refused.status, refused.body.error, typeof refused.body.message, refused.headers.get('x-error-code')],
          [409, true, 'string', code],
          `${action} in ${status}`,
        )
      }
      const unchanged = ({ updatedAt: _, counts: _counts, ...rest }: CampaignJson) => rest
      assert.deepEqual(unchanged(await get(kept)), unchanged(before))
      // In any status:
      assert.equal((await post(kept, 'test', { to: [`test-${status}@example.com`] })).status, 200)
      assert.match((await relay.mailTo(`test-${status}@example.com`)).raw.toString(), /^Subject: \[Test\] /m)
      assert.equal((await post(kept, 'preview')).status, 200)
      const copy = await bodyOf(post<CampaignJson>(kept, 'duplicate'), 201)
      assert.deepEqual([copy.name, copy.status], ['Copy of Spring', 'draft'])
      for (const view of ['review', 'recipients', 'report', 'export'])
        assert.equal((await api().get(`${CAMPAIGNS}/${kept}/${view}`)).status, 200, view)
      assert.equal((await get(kept)).status, status)
    })

  it('404: every action on a campaign that there is not', async () => {
    for (const action of Object.keys(table) as Action[])
      assert.equal((await act(unknownId, action)).status, 404, action)
    for (const [action, body] of [['test', { to: ['a@example.com'] }], ['preview'], ['duplicate']] as const)
      assert.equal((await post(unknownId, action, body)).status, 404, action)
    for (const view of ['review', 'recipients', 'report', 'export'])
      assert.equal((await api().get(`${CAMPAIGNS}/${unknownId}/${view}`)).status, 404, view)
  })

  it('400: names the field that is missing, unknown or does not parse, at create and at change', async () => {
    const { id } = await create()
    const before = await get(id)
    const content = { name: 'N', subject: 'S', html: HTML, lists: [readers] }
    for (const missing of ['name', 'subject'] as const) {
      const { [missing]: _, ...rest } = content
      const refused = await bodyOf(api().post<Refusal>(CAMPAIGNS, rest), 400)
      assert.deepEqual([refused.error, refused.message], [true, `missing field -> ${missing}`])
    }
    const bad: [object, string | RegExp, path: string][] = [
      [{ lists: [readers, unknownId] }, /^invalid field -> lists\.1: /, 'lists.1'],
      [{ excludeLists: [unknownId] }, /^invalid field -> excludeLists\.0: /, 'excludeLists.0'],
      [{ segments: [unknownId] }, /^invalid field -> segments\.0: /, 'segments.0'],
      [{ sender: unknownId }, 'invalid field -> sender: no such sender', 'sender'],
      [{ template: unknownId, html: null }, 'invalid field -> template: unknown template', 'template'],
      [{ template: unknownId, html: HTML }, 'extra field -> template', 'template'],
      [{ html: 'one\n{% if %}' }, /^invalid field -> html: line 2, column 6: /, 'html'],
      [{ text: '{{ a' }, /^invalid field -> text: line 1, column 1: /, 'text'],
      [{ subject: '{% nothing %}' }, /^invalid field -> subject: line 1, column 1: /, 'subject'],
      [{ preheader: '{{ a' }, /^invalid field -> preheader: line 1, column 1: /, 'preheader'],
      [{ ratePerMinute: -1 }, /^invalid field -> ratePerMinute: /, 'ratePerMinute'],
      [{ lists: ['x'] }, /^invalid field -> lists\.0: /, 'lists.0'],
      [{ track: { opens: 'yes' } }, /^invalid field -> track\.opens: /, 'track.opens'],
    ]
    for (const [change, message, path] of bad)
      for (const refusal of [
        api().post<Refusal>(CAMPAIGNS, { ...content, ...change }),
        api().patch<Refusal>(`${CAMPAIGNS}/${id}`, change),
      ]) {
        const refused = await bodyOf(refusal, 400)
        assert.equal(refused.path, path, refused.message)
        if (typeof message === 'string') assert.equal(refused.message, message)
        else assert.match(refused.message, message)
      }
    assert.equal((await api().patch(`${CAMPAIGNS}/${id}`, {})).status, 400)
    assert.deepEqual(await get(id), before)
  })

  it('400: starts and schedules nothing that is not ready, and names the first reason', async () => {
    const nobody = await listOf()
    const loop = '{% for i in (1..2000) %}'
    const reasons: [object, RegExp][] = [
      [{ sender: null, html: null }, /no default sender|no such sender/],
      [{ lists: [nobody], html: null }, /no contact is left/],
      [{ excludeLists: [readers] }, /no contact is left/],
      [{ html: null }, /has no content/],
      [{ html: `${HTML}${loop}${loop}{% endfor %}{% endfor %}` }, /^invalid field -> html: takes longer than 50 ms/],
      [{ html: '<p>No link</p>' }, /^html: the unsubscribe link is missing/],
      [{ text: 'No link' }, /^text: the unsubscribe link is missing/],
    ]
    for (const [rest, reason] of reasons) {
      const { id } = await create(rest)
      for (const refusal of [post(id, 'start'), post(id, 'schedule', { at: inAnHour() })]) {
        const { success, message } = await bodyOf(refusal, 400)
        assert.equal(success, false)
        assert.match(message, reason)
      }
      const { ready } = await bodyOf(api().get<{ ready: boolean }>(`${CAMPAIGNS}/${id}/review`))
      assert.deepEqual([ready, (await get(id)).status], [false, 'draft'])
    }
  })

  it('400: refuses a time that is missing, past or too far, and other input of actions', async () => {
    const { id } = await create()
    assert.equal((await bodyOf(post(id, 'schedule'), 400)).message, 'missing field -> at')
    for (const at of [new Date(Date.now() - 1000), new Date(Date.now() + 400 * 24 * HOUR_MS), 'soon']) {
      const refused = await bodyOf(post(id, 'schedule', { at }), 400)
      assert.match(refused.message, /^invalid field -> at: /)
    }
    const test = (body: object, status: number) => bodyOf(post(id, 'test', body), status)
    assert.equal((await test({}, 400)).message, 'missing field -> to')
    assert.equal((await test({ to: [] }, 400)).path, 'to')
    assert.equal((await test({ to: ['nobody'] }, 400)).path, 'to.0')
    assert.equal((await test({ to: Array.from({ length: 6 }, (_, n) => `t${n}@example.com`) }, 400)).path, 'to')
    const { id: blocked } = await bodyOf(
      api().post<{ id: string }>('/api/audience', { email: 'blocked@example.com', name: 'B' }),
      201,
    )
    await bodyOf(api().patch(`/api/audience/${blocked}/block`, { reason: 'asked' }))
    assert.equal((await test({ to: ['blocked@example.com'] }, 409)).error, true)
    assert.equal((await bodyOf(post(id, 'preview', { contactId: unknownId }), 404)).message, 'contact not found')
    assert.equal((await bodyOf(post(id, 'preview', { html: '{{ a' }), 400)).path, 'html')
    const report = await bodyOf(api().get<Refusal>(`${CAMPAIGNS}/${id}/report`, { interval: 'minute' }), 400)
    assert.equal(report.path, 'interval')
    const counted = (body: object) => api().post<Refusal>(`${CAMPAIGNS}/audience`, body)
    assert.equal((await bodyOf(counted({ lists: [unknownId] }), 400)).path, 'lists.0')
    assert.deepEqual(await bodyOf(counted({ lists: [readers, oneReader], excludeLists: [oneReader] })), {
      recipients: 2,
      excluded: 1,
      blocked: 0,
      unsubscribed: 0,
      address: 0,
    })
  })

  it('reaches each contact of two lists once, without those excluded, opted out or suppressed', async () => {
    const excluded = await listOf('excluded@example.com')
    const one = await listOf('both@example.com', 'left@example.com', 'excluded@example.com')
    const two = await listOf('both@example.com', 'bounced@example.com', '=1+1@example.com', BUSY)
    const { docs } = await bodyOf(
      api().get<Page<{ id: string }>>('/api/audience', { filter: { email: 'left@example.com' } }),
    )
    await bodyOf(api().patch(`/api/audience/${docs[0]!.id}`, { unsubscribed: true }))
    await bodyOf(api().post('/api/emails/suppressions', { email: 'bounced@example.com' }), 201)
    const { id, counts } = await send({
      lists: [one, two],
      excludeLists: [excluded],
      track: { opens: true, clicks: true },
    })
    assert.deepEqual(
      [counts.recipients, counts.sent, counts.failed, counts.waiting, counts.suppressed],
      [5, 2, 1, 0, { blocked: 0, unsubscribed: 1, address: 1 }],
    )
    const asked = (to: string) => relay.mails.filter(mail => mail.to === to).length
    assert.deepEqual(
      ['both@example.com', '=1+1@example.com', 'left@example.com', 'bounced@example.com', 'excluded@example.com'].map(
        asked,
      ),
      [1, 1, 0, 0, 0],
    )
    const list = (query: object) => bodyOf(api().get<Page<Recipient>>(`${CAMPAIGNS}/${id}/recipients`, { ...query }))
    const all = await list({ sort: { email: 1 } })
    assert.deepEqual(
      all.docs.map(({ email, status }) => [email, status]),
      [
        ['=1+1@example.com', 'sent'],
        ['both@example.com', 'sent'],
        ['bounced@example.com', 'suppressed'],
        [BUSY, 'failed'],
        ['left@example.com', 'suppressed'],
      ],
    )
    const failed = await list({ filter: { status: 'failed' } })
    assert.deepEqual([failed.totalDocs, failed.docs[0]?.error], [1, '451 =Try later'])

    const file = await api().get(`${CAMPAIGNS}/${id}/export`)
    assert.match(file.headers.get('content-type')!, /^text\/csv/)
    assert.match(file.headers.get('content-disposition')!, /attachment; filename="?recipients\.csv/)
    const rows = file.text.trim().split('\r\n')
    assert.equal(rows.length, 6)
    assert.ok(
      rows.some(row => /^"?'=1\+1@example\.com/.test(row)),
      'a cell that begins a formula is quoted',
    )
    const report = await bodyOf(
      api().get<{ counts: object; series: { sent: number }[]; links: object[] }>(`${CAMPAIGNS}/${id}/report`, {
        interval: 'day',
      }),
    )
    assert.deepEqual([report.counts, report.series.map(point => point.sent), report.links], [counts, [2], []])
    const { docs: messages } = await bodyOf(
      api().get<Page<{ status: string; kind: string }>>('/api/emails/messages', { filter: { campaign: id } }),
    )
    assert.deepEqual(messages.map(({ kind, status }) => `${kind} ${status}`).toSorted(), [
      'campaign failed',
      'campaign sent',
      'campaign sent',
      'campaign suppressed',
      'campaign suppressed',
    ])
  })

  it('sends again only to those for whom sending failed, and to nobody twice', async () => {
    const list = await listOf('again@example.com', BUSY)
    const { id, counts } = await send({ lists: [list] })
    assert.deepEqual([counts.sent, counts.failed], [1, 1])
    const refuse = relay.refuse
    relay.refuse = () => undefined
    try {
      await bodyOf(post(id, 'retry'))
      await eventually('the other got it', async () => (await get(id)).counts.sent === 2)
      await reached(id, 'sent')
    } finally {
      relay.refuse = refuse
    }
    assert.equal(relay.mails.filter(({ to }) => to === 'again@example.com').length, 1)
    const refused = await post(id, 'retry')
    assert.deepEqual([refused.status, refused.headers.get('x-error-code')], [409, 'campaign.nothing_failed'])
  })

  it('makes, shows, changes and deletes templates; a name is there once', async () => {
    const fields = { name: 'Letter', subject: 'Hello', html: HTML, description: 'For letters' }
    const made = await bodyOf(api().post<TemplateJson>(TEMPLATES, fields), 201)
    assert.deepEqual(await bodyOf(api().get<TemplateJson>(`${TEMPLATES}/${made.id}`)), made)
    const taken = await bodyOf(api().post<Refusal>(TEMPLATES, { ...fields, name: 'letter' }), 409)
    assert.equal(taken.message, 'duplicate -> name')
    const other = await idOf(TEMPLATES, { name: 'Other', html: HTML })
    assert.equal((await api().patch(`${TEMPLATES}/${other}`, { name: 'LETTER' })).status, 409)
    for (const missing of ['name', 'html'] as const) {
      const { [missing]: _, ...rest } = fields
      assert.equal((await bodyOf(api().post<Refusal>(TEMPLATES, rest), 400)).message, `missing field -> ${missing}`)
    }
    for (const field of ['html', 'text', 'subject']) {
      const broken = { [field]: '{% unknown %}' }
      for (const refusal of [
        api().post<Refusal>(TEMPLATES, { ...fields, name: 'New', ...broken }),
        api().patch<Refusal>(`${TEMPLATES}/${made.id}`, broken),
      ])
        assert.match((await bodyOf(refusal, 400)).message, new RegExp(`^invalid field -> ${field}: line 1, column 1: `))
    }
    assert.equal((await api().patch(`${TEMPLATES}/${made.id}`, {})).status, 400)
    await bodyOf(api().patch(`${TEMPLATES}/${made.id}`, { subject: null, text: `Hi {{ unsubscribe_url }}` }))
    const changed = await bodyOf(api().get<TemplateJson>(`${TEMPLATES}/${made.id}`))
    assert.deepEqual([changed.subject, changed.html], [null, HTML])
    const { docs } = await bodyOf(api().get<Page<TemplateJson>>(TEMPLATES, { filter: { name: 'Letter' } }))
    assert.deepEqual(docs, [changed])

    const preview = <T = PreviewJson>(body: object, id = made.id) => api().post<T>(`${TEMPLATES}/${id}/preview`, body)
    const shown = await bodyOf(preview({ subject: '{{ data.code }}', data: { code: '42' } }))
    assert.deepEqual([shown.subject, shown.text.startsWith('Hi http')], ['42', true])
    assert.equal((await preview({}, unknownId)).status, 404)
    assert.equal((await bodyOf(preview<Refusal>({ contactId: unknownId }), 404)).message, 'contact not found')
    assert.equal((await bodyOf(preview<Refusal>({ html: '{{ a' }), 400)).path, 'html')

    const { id: campaign } = await create({ html: null, template: made.id })
    const inUse = await bodyOf(api().delete<Refusal>(`${TEMPLATES}/${made.id}`), 409)
    assert.equal(inUse.error, true)
    await bodyOf(api().delete(`${CAMPAIGNS}/${campaign}`))
    assert.deepEqual(await bodyOf(api().delete<TemplateJson>(`${TEMPLATES}/${made.id}`)), changed)
    for (const gone of [
      api().get(`${TEMPLATES}/${made.id}`),
      api().patch(`${TEMPLATES}/${made.id}`, { name: 'X' }),
      api().delete(`${TEMPLATES}/${made.id}`),
    ])
      assert.equal((await gone).status, 404)
  })
})
