import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { createClient, UnauthorizedError } from '@rollcall/sdk'
import { startTestDns, type TestDns } from '@rollcall/testing/dns'
import { eventually } from '@rollcall/testing/eventually'
import { type Receiver, startReceiver } from '@rollcall/testing/receiver'
import type { Page } from 'playwright-core'
import { Webhook as Verifier } from 'standardwebhooks'
import { bodyOf } from '../api.ts'
import { setUpSecondFactor } from '../identity/founder.ts'
import { type AccountProvider, startAccountProvider } from '../messaging/mail-account-provider.ts'
import { settle, violationsOf } from './browser.ts'
import { type ConsoleStack, goTo, startConsole } from './console-stack.ts'

const PASSWORD = 'made for tests only'
const ZONE = 'example-console.com'
const MAIL_ACCOUNT = `person@${ZONE}`

/** Where records are created, by whom: the list's call, the creating call and its button. */
const AREAS = [
  { area: 'Contacts', list: '/api/audience', create: '/api/audience', button: 'Add contact' },
  { area: 'Lists', list: '/api/audience-lists', create: '/api/audience-lists', button: 'New list' },
  {
    area: 'Attributes',
    list: '/api/audience/attributes',
    create: '/api/audience/attributes',
    button: 'New attribute',
  },
  { area: 'Domains', list: '/api/emails/domains', create: '/api/emails/domains', button: 'Add domain' },
  { area: 'Senders', list: '/api/emails/senders', create: '/api/emails/senders', button: 'New sender' },
  { area: 'Templates', list: '/api/emails/templates', create: '/api/emails/templates', button: 'New template' },
  { area: 'Messages', list: '/api/emails/messages', create: '/api/emails/send', button: 'Send message' },
  {
    area: 'Suppressions',
    list: '/api/emails/suppressions',
    create: '/api/emails/suppressions',
    button: 'Add address',
  },
  { area: 'Links', list: '/api/links', create: '/api/links', button: 'New link' },
  { area: 'Collections', list: '/api/collections', create: '/api/collections', button: 'New collection' },
  { area: 'Tokens', list: '/api/tokens', create: '/api/tokens', button: 'Create token' },
  { area: 'Roles', list: '/api/access-control/roles', create: '/api/access-control/save-role', button: 'New role' },
  { area: 'Users', list: '/api/users', create: '/api/users', button: 'Create user' },
  { area: 'Workspaces', list: '/api/workspaces', create: '/api/workspaces', button: 'Create workspace' },
  { area: 'Webhooks', list: '/api/webhooks', create: '/api/webhooks', button: 'New endpoint' },
]

describe('administration in the console', () => {
  const started = new AsyncDisposableStack()
  let console: ConsoleStack
  let dns: TestDns
  let provider: AccountProvider
  let receiver: Receiver

  before(async () => {
    dns = await startTestDns()
    started.defer(dns.stop)
    provider = await startAccountProvider(MAIL_ACCOUNT)
    started.defer(provider.stop)
    receiver = await startReceiver()
    started.defer(receiver.stop)
    console = await startConsole({
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      TOKEN_USAGE_REPORT_MS: '1000',
      DNS_SERVERS: `127.0.0.2:${dns.port}`,
      GOOGLE_ISSUER: provider.issuer,
      GOOGLE_CLIENT_ID: 'client of the tests',
      GOOGLE_CLIENT_SECRET: 'secret of the tests',
    })
    started.defer(console.stop)
  })
  after(() => started.disposeAsync())
  afterEach(() => console.closePages())

  let people = 0
  /** Creates an account of a role and returns it with a session. */
  const person = async (role: string, name = `Person ${people}`) => {
    const email = `person${people++}@example.com`
    const account = { name, email, role, password: PASSWORD }
    const { id } = await bodyOf(console.stack.owner.post<{ id: string }>('/api/users', account), 201)
    return { id, name, email, token: await console.signIn({ email, password: PASSWORD }) }
  }
  const saveRole = (permissions: Record<string, string[]>) =>
    bodyOf(console.stack.owner.post('/api/access-control/save-role', { name: 'keeper', kind: 'user', permissions }))
  const visit = async (page: Page, area: string) => {
    await page.getByRole('navigation').getByRole('link', { name: area, exact: true }).click()
    await page.getByRole('heading', { name: area, level: 1 }).waitFor()
  }

  it('a token: its secret is shown once, works, and is refused after deactivation', async () => {
    const page = await console.open('/tokens?new=true')
    const form = page.getByRole('dialog', { name: 'Create token' })
    await form.getByLabel('Name').fill('nightly')
    await form.getByRole('button', { name: 'Create token' }).click()
    const secret = page.getByRole('dialog', { name: 'Copy your token now' })
    const token = (await secret.getByText(/^[\da-f]{24}:/).textContent()) ?? ''
    await secret.getByRole('button', { name: 'I have stored it' }).click()
    await secret.waitFor({ state: 'detached' })
    assert.equal(await page.getByText(token).count(), 0)
    const client = createClient({ baseUrl: console.url, token })
    assert.equal((await client.account.get()).kind, 'token')
    await page.getByRole('link', { name: /^nightly/ }).click()
    await page.getByRole('heading', { name: 'nightly', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Deactivate' }).click()
    await page.getByText('nightly is refused from the next request on').waitFor()
    await assert.rejects(client.account.get(), UnauthorizedError)
  })

  it('a token: what it used becomes the draft of a role', async () => {
    const { owner } = console.stack
    const permissions = { audience: ['read', 'create'], audience_lists: ['read'] }
    await bodyOf(owner.post('/api/access-control/save-role', { name: 'wide', kind: 'api', permissions }))
    const { id, token } = await bodyOf(
      owner.post<{ id: string; token: string }>('/api/tokens', { name: 'reader', role: 'wide' }),
      201,
    )
    await createClient({ baseUrl: console.url, token }).contacts.list()
    await untilTrue(async () => {
      const { docs } = await bodyOf(owner.get<{ docs: unknown[] }>(`/api/tokens/${id}/usage`))
      return docs.length > 0
    })
    const page = await console.open(`/tokens/${id}`)
    await page.getByText('It used 1 of the 3 permissions of its role.').waitFor()
    await page.getByRole('button', { name: 'Make a role of what it used' }).click()
    assert.equal(await page.getByLabel('Name').inputValue(), 'reader (used)')
    assert.equal(await page.getByRole('checkbox', { name: 'Read audience', exact: true }).isChecked(), true)
    assert.equal(await page.getByRole('checkbox', { name: 'Create audience', exact: true }).isChecked(), false)
    await page.getByLabel('Name').fill('wide')
    await page.getByText('There is a role of this name.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Create role' }).isDisabled(), true)
  })

  it('a role that loses a permission says so before, and its people notice', async () => {
    await saveRole({ audience: ['read'], audience_lists: ['read'] })
    const keeper = await person('keeper', 'The Keeper')
    const theirs = await console.open('/contacts', { token: keeper.token })
    await theirs.getByRole('heading', { name: 'Contacts', level: 1 }).waitFor()
    const page = await console.open('/roles/keeper')
    await page.getByRole('combobox', { name: 'Compare with a role' }).click()
    await page.getByRole('option', { name: 'admin' }).click()
    await page.getByText('2 permissions in common').waitFor()
    await page.getByText('Only admin has').waitFor()
    await page.getByRole('checkbox', { name: 'Read audience_lists', exact: true }).click()
    await page.getByRole('button', { name: 'Review changes' }).click()
    const review = page.getByRole('dialog', { name: 'Save the role keeper?' })
    await review.getByText('audience_lists.read').waitFor()
    await review.getByText('The Keeper').waitFor()
    await review.getByRole('button', { name: 'Save role' }).click()
    await page.getByText('Saved keeper. Tokens affected: 0, members: 1.').waitFor()
    await theirs.getByRole('navigation').getByRole('link', { name: 'Lists' }).click()
    await theirs.getByRole('alert').getByText('You can no longer use audience_lists.read.').waitFor()
    assert.equal(await theirs.getByRole('navigation').getByRole('link', { name: 'Lists' }).count(), 0)
  })

  it('a click that is refused: the permissions are read again, and the end of the session is seen', async () => {
    await saveRole({ audience: ['read'], audience_lists: ['read', 'update', 'delete'] })
    const keeper = await person('keeper')
    const { id } = await bodyOf(console.stack.owner.post<{ id: string }>('/api/audience-lists', { name: 'Kept' }), 201)
    const page = await console.open(`/lists/${id}`, { token: keeper.token })
    const choose = async (name: string) => {
      await page.getByRole('button', { name: 'More actions for Kept' }).click()
      await page.getByRole('menuitem', { name }).click()
    }
    await choose('Delete list')
    await saveRole({ audience: ['read'], audience_lists: ['read', 'update'] })
    await page.getByRole('dialog').getByRole('button', { name: 'Delete list' }).click()
    await page.getByRole('alert').getByText('You can no longer use audience_lists.delete.').waitFor()
    await console.stack.api.as(keeper.token).post('/api/auth/logout')
    await choose('Archive')
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
  })

  it('an impersonation sees all and changes nothing, here and at the server', async () => {
    const other = await person('admin', 'Admin Person')
    const page = await console.open(`/users/${other.id}`)
    const sent: string[] = []
    let credential = ''
    page.on('request', request => {
      if (request.method() !== 'GET') sent.push(`${request.method()} ${new URL(request.url()).pathname}`)
      credential = request.headers().authorization ?? credential
    })
    await page.getByRole('button', { name: 'Impersonate' }).click()
    const dialog = page.getByRole('dialog', { name: 'See Rollcall as Admin Person?' })
    await dialog.getByLabel('Reason').fill('a ticket')
    await dialog.getByRole('button', { name: 'Impersonate' }).click()
    const banner = page.getByRole('region', { name: 'Impersonation' })
    await banner.getByText('sees Rollcall as Admin Person').waitFor()
    await banner.getByText(/^(29|30):\d\d left$/).waitFor()
    await page.getByRole('button', { name: 'Account menu of Admin Person' }).waitFor()
    sent.length = 0
    for (const { area, button } of AREAS) {
      await visit(page, area)
      const control = page.getByRole('button', { name: button }).first()
      assert.equal(await control.getAttribute('aria-disabled'), 'true', area)
      await control.click({ force: true })
      await page.keyboard.press('n')
      assert.equal(await page.getByRole('dialog').count(), 0, area)
    }
    assert.deepEqual(sent, [])
    const refused = await fetch(`${console.url}/api/audience-lists`, {
      method: 'POST',
      headers: { authorization: credential, 'content-type': 'application/json' },
      body: '{"name":"Mine"}',
    })
    assert.equal(refused.status, 403)
    await banner.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('You are yourself again.').waitFor()
    await page.getByRole('button', { name: 'Account menu of Owner' }).waitFor()
    assert.equal((await fetch(`${console.url}/api/me`, { headers: { authorization: credential } })).status, 401)
  })

  it('an impersonation: goes on after a sign-out that failed, and ends with the next', async () => {
    const { id } = await person('admin', 'Other Admin')
    const { token } = await person('owner', 'Second Owner')
    const page = await console.open(`/users/${id}`, { token })
    await page.getByRole('button', { name: 'Impersonate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Impersonate' }).click()
    const banner = page.getByRole('region', { name: 'Impersonation' })
    await banner.waitFor()
    const signOut = async () => {
      await page.getByRole('button', { name: 'Account menu of Other Admin' }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
    }
    const refusal = { status: 400, json: { error: 'Refused' } }
    await page.route('**/api/auth/logout', route => route.fulfill(refusal), { times: 1 })
    await signOut()
    await page.getByRole('alert').waitFor()
    assert.ok(await banner.isVisible())
    await signOut()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goto('/console/contacts')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('shows each role what the server lets it do', async () => {
    await saveRole({ audience: ['read', 'create'], audience_lists: ['read'], tokens: ['read'] })
    const client = createClient({ baseUrl: console.url, token: console.token })
    await client.attributes.create({ name: 'Plan', slug: 'plan', type: 'string' })
    const { id } = await client.contacts.create({ email: 'kept@example.com', attributes: { plan: 'gold' } })
    for (const role of ['user', 'admin', 'keeper']) {
      const { token } = await person(role)
      const api = console.stack.api.as(token)
      const page = await console.open('/', { token })
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
      for (const { area, list, create, button } of AREAS) {
        const isListed = (await api.get(list)).status === 200
        const link = page.getByRole('navigation').getByRole('link', { name: area, exact: true })
        assert.equal((await link.count()) > 0, isListed, `${role}: ${area}`)
        if (!isListed) continue
        const mayCreate = (await api.post(create, {})).status !== 403
        await visit(page, area)
        const isOff =
          (await page.getByRole('button', { name: button }).first().getAttribute('aria-disabled')) === 'true'
        assert.equal(!isOff, mayCreate, `${role}: ${button}`)
      }
      if (role !== 'keeper') continue
      await goTo(page, `/contacts/${id}`)
      await page.getByText('gold').waitFor()
      await page.getByText('You need the permission audience_attributes.read.').waitFor()
    }
  })

  it('a domain: red with the sentence why, green once its records are published', async () => {
    dns.zone(ZONE, ['127.0.0.2'])
    const client = createClient({ baseUrl: console.url, token: console.token })
    await client.providers.delete()
    const page = await console.open('/domains?new=true')
    const add = async () => {
      await page.getByRole('dialog', { name: 'Add domain' }).getByLabel('Domain').fill(ZONE)
      await page.keyboard.press('Enter')
    }
    await add()
    await page.getByRole('dialog').getByRole('link', { name: 'Set up a mail provider' }).click()
    await page.getByRole('radio', { name: "This installation's mail servers" }).check()
    await page.getByRole('button', { name: 'Save provider' }).click()
    await page.getByRole('link', { name: 'Add a domain' }).click()
    await add()
    await page.getByRole('heading', { name: ZONE, level: 1 }).waitFor()
    let checks = 0
    await page.route('**/check', route => (++checks === 1 ? route.continue() : route.fulfill({ status: 400 })))
    // Pauses between checks shrink from seconds to milliseconds; timeouts of calls stay.
    await page.evaluate(`{
      const wait = setTimeout
      window.setTimeout = (run, ms) => wait(run, ms >= 15_000 && !String(run).includes('abort') ? ms / 1000 : ms)
    }`)
    await page.getByRole('button', { name: 'Check records' }).click()
    const dkim = page.getByRole('article', { name: /^DKIM/ })
    await dkim.getByText('Missing').waitFor()
    await untilTrue(async () => checks > 8) // more than there are different pauses
    await dkim.getByText(/^Not found/).waitFor()
    const { docs } = await client.domains.list({ filter: { domain: ZONE } })
    dns.publish(
      ZONE,
      docs[0]!.sendingRecords.map(({ type, name, value }) => ({
        type,
        name,
        data: type === 'TXT' ? value.match(/.{1,255}/g) : value,
      })),
    )
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText(`${ZONE} is verified`).waitFor()
    await dkim.getByText('Correct').waitFor()

    const news = { name: 'News', email: `news@${ZONE}`, delivery: 'hosted' } as const
    const { id } = await client.senders.create(news)
    const senders = await console.open('/lists')
    const degraded = { docs: [{ domain: ZONE, status: 'degraded' }] }
    await senders.route(/\/api\/emails\/domains\?/, route => route.fulfill({ json: degraded }))
    await goTo(senders, '/senders')
    await senders.getByRole('row', { name: news.email }).getByText('Domain degraded').waitFor()
    const menu = async (item: string) => {
      await page.getByRole('button', { name: `More actions for ${ZONE}` }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await menu('Delete domain')
    const inUse = page.getByRole('dialog', { name: `${ZONE} is in use` })
    await inUse.getByRole('link', { name: news.email }).waitFor()
    assert.deepEqual(await violationsOf(page, 'a domain in use'), [])
    await page.keyboard.press('Escape')
    await client.senders.delete(id)
    await menu('Rotate DKIM key')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate DKIM key' }).click()
    await page.getByRole('region', { name: 'DKIM key rotation' }).getByText('Publish its record').waitFor()
    await dkim.getByText('signs now').waitFor()
    await dkim
      .last()
      .getByText(/^[\w-]+\._domainkey$/)
      .waitFor()
    assert.deepEqual(await violationsOf(page, 'a rotation of keys'), [])
  })

  it('a sender with a mail server of its own: its settings are tested before they are saved', async () => {
    const page = await console.open('/senders?new=true')
    const form = page.getByRole('dialog', { name: 'New sender' })
    await form.getByRole('combobox', { name: 'Sent by' }).click()
    await page.getByRole('option', { name: 'Own mail server' }).click()
    const test = form.getByRole('button', { name: 'Test the connection' })
    await form.getByLabel('Server').fill('localhost')
    await test.click()
    await form.getByText(/^Localhost is not allowed/).waitFor()
    assert.equal(await form.getByLabel('Server').getAttribute('aria-invalid'), 'true')
    assert.deepEqual(await violationsOf(page, 'a mail server of its own', undefined, '[role=dialog]'), [])

    const client = createClient({ baseUrl: console.url, token: console.token })
    const smtp = { host: 'smtp.example.com', port: 587, username: 'own', password: 'made for tests only' }
    const { id } = await client.senders.create({ name: 'Own', email: `own@${ZONE}`, delivery: 'smtp', smtp })
    await page.goto(`/console/senders/${id}`)
    const testAgain = page.getByRole('button', { name: 'Test the connection' })
    assert.equal(await testAgain.isDisabled(), true) // it lacks the password
    await page.getByLabel('User name').fill('')
    // No server at a public address can be reached from here.
    await page.route('**/api/emails/senders/test-smtp', route =>
      route.fulfill({ json: { success: true, message: '' } }),
    )
    await testAgain.click()
    await page.getByText('The mail server accepts these settings.').waitFor()
    await page.getByRole('button', { name: 'Save changes' }).click() // a test saves nothing
    await page.getByText('Saved the sender').waitFor()
    assert.equal((await client.senders.get(id)).smtp?.username, null)
    await client.senders.delete(id)
  })

  it('a sender: connects its mail account, sends, is shared and transferred', async () => {
    const colleague = await person('user', 'Col League')
    const page = await console.open('/senders?new=true')
    const form = page.getByRole('dialog', { name: 'New sender' })
    await form.getByLabel('Name').fill('Person')
    await form.getByLabel('Email').fill(MAIL_ACCOUNT)
    await form.getByRole('combobox', { name: 'Sent by' }).click()
    await page.getByRole('option', { name: 'Mail account' }).click()
    await form.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: MAIL_ACCOUNT, level: 1 }).waitFor()
    // Leads past the provider's page: to where the person comes back after the consent.
    await page.route('**/oauth/google/start*', async route => {
      const response = await route.fetch()
      const { url } = (await response.json()) as { url: string }
      const callback = await fetch(new URL(provider.consent(url), console.url), { redirect: 'manual' })
      const back = new URL(callback.headers.get('location')!)
      await route.fulfill({ response, json: { url: `${console.url}${back.pathname}${back.search}` } })
    })
    await page.getByRole('button', { name: 'Connect Google' }).click()
    await page.getByText('The sender can send from now on.').waitFor()
    assert.equal(page.url(), `${console.url}/console/connect-account`)
    await page.getByRole('link', { name: 'Senders' }).last().click()
    await page.getByRole('heading', { name: 'Senders', level: 1 }).waitFor()
    await page.goBack()
    await page.getByText('The sender can send from now on.').waitFor()
    await page.goForward()
    await page.getByRole('link', { name: MAIL_ACCOUNT }).click()
    await page.getByText(`Connected to ${MAIL_ACCOUNT}.`).waitFor()
    const id = page.url().slice(page.url().lastIndexOf('/') + 1)

    await goTo(page, '/messages?new=true')
    const mail = page.getByRole('dialog', { name: 'Send message' })
    await mail.getByRole('textbox', { name: 'To', exact: true }).fill('guest@example.com')
    await mail.getByRole('combobox', { name: 'From' }).click()
    await page.getByRole('option', { name: MAIL_ACCOUNT }).click()
    await mail.getByRole('textbox', { name: 'Subject' }).fill('Your receipt')
    await mail.getByRole('textbox', { name: 'Text', exact: true }).fill('Thank you.')
    await mail.getByLabel('Send at').fill(new Date(Date.now() + 172_800_000).toISOString().slice(0, 16))
    assert.deepEqual(await violationsOf(page, 'the form of a message'), [])
    await mail.getByRole('button', { name: 'Send message' }).click()
    await page.getByRole('link', { name: 'guest@example.com Your receipt' }).click()
    const message = page.getByRole('dialog', { name: 'Your receipt' })
    await message.getByRole('button', { name: 'Cancel message' }).click()
    await page.getByText('Cancelled the message to guest@example.com').waitFor()
    assert.deepEqual(await violationsOf(page, 'a message'), [])

    await goTo(page, '/suppressions?new=true')
    const address = page.getByRole('dialog', { name: 'Add address' })
    await address.getByLabel('Email').fill('guest@example.com')
    await page.keyboard.press('Enter')
    await page.getByText('guest@example.com gets no more mail').waitFor()
    await goTo(page, '/suppressions')
    await page.getByRole('button', { name: 'More actions for guest@example.com' }).click()
    await page.getByRole('menuitem', { name: 'Lift suppression' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Lift suppression' }).click()
    await page.getByText('guest@example.com can get mail again').waitFor()
    await goTo(page, `/senders/${id}`)

    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('combobox', { name: 'Person' }).fill('col')
    await page.getByRole('option', { name: /Col League/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Share' }).click()
    await page.getByRole('table', { name: 'Shared with' }).getByText('Col League').waitFor()
    await goTo(page, '/senders')
    for (const name of ['You', 'Col League'])
      await page.getByRole('row', { name: MAIL_ACCOUNT }).getByRole('cell', { name, exact: true }).waitFor()
    await goTo(page, `/senders/${id}`)
    const transferTo = async (name: string) => {
      await page.getByRole('combobox', { name: 'New owner' }).fill(name)
      await page.getByRole('option', { name: new RegExp(`^${name} `) }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Transfer' }).click()
      await page.getByRole('heading', { name: 'Senders', level: 1 }).waitFor()
    }
    await page.getByRole('button', { name: `More actions for ${MAIL_ACCOUNT}` }).click()
    await page.getByRole('menuitem', { name: 'Transfer' }).click()
    await transferTo('Col League')
    const client = createClient({ baseUrl: console.url, token: colleague.token })
    assert.equal((await client.senders.list()).docs[0]?.owner, colleague.id)

    const own = createClient({ baseUrl: console.url, token: console.token })
    await own.users.delete(colleague.id)
    const ownerOf = () => own.senders.get(id).then(({ owner }) => owner)
    await eventually('the sender has no owner', async () => (await ownerOf().catch(() => undefined)) === null)
    await goTo(page, `/senders/${id}`)
    await page.getByText('The account of its owner was deleted.').waitFor()
    await page.getByRole('button', { name: 'Transfer' }).click()
    await transferTo('Owner')
    assert.ok(await ownerOf())
  })

  it('a template: says where it is wrong, and shows what becomes of it without running it', async () => {
    const page = await console.open('/templates?new=true')
    const form = page.getByRole('dialog', { name: 'New template' })
    await form.getByLabel('Name').fill('Receipt')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Receipt', level: 1 }).waitFor()
    const html = page.getByRole('textbox', { name: 'HTML' })
    const save = page.getByRole('button', { name: 'Save template' })
    await html.fill('<p>{{ contact.name </p>')
    await save.click()
    await page.getByText(/^Line 1, column/).waitFor()
    await html.fill('<p id="mail" style="color: rgb(1, 2, 3)">Thank you</p><script>document.body.remove()</script>')
    await page.getByRole('button', { name: 'Insert variable' }).click()
    await page.getByRole('menuitem', { name: 'Unsubscribe link' }).click()
    assert.match(await html.inputValue(), /\{\{ unsubscribe_url \}\}/)
    await save.click()
    await page.getByRole('status').getByText('Saved the template').waitFor()
    await page.frameLocator('iframe[title="Preview of the mail"]').getByText('Thank you').waitFor()
    const frame = page.frames().find(each => each.url().endsWith('/mail-frame.html'))
    assert.equal(await frame?.evaluate('getComputedStyle(document.querySelector("#mail")).color'), 'rgb(1, 2, 3)')
    await settle(page) // an old preview is dimmed
    assert.deepEqual(await violationsOf(page, 'a template'), [])
  })

  it('a link: leads on, counts who follows it, and has a QR code', async () => {
    const page = await console.open('/links?new=true')
    const form = page.getByRole('dialog', { name: 'New link' })
    await form.getByLabel('Leads to').fill('https://example.com/spring')
    await form.getByLabel('Short address').fill('spring-sale')
    await form.getByLabel('Title').fill('Spring sale')
    await form.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'Spring sale', level: 1 }).waitFor()
    const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x64) Firefox/140.0' }
    const followed = await fetch(`${console.url}/l/spring-sale`, { redirect: 'manual', headers })
    assert.equal(followed.headers.get('location'), 'https://example.com/spring')
    const client = createClient({ baseUrl: console.url, token: console.token })
    const { docs } = await client.links.list({ filter: { slug: 'spring-sale' } })
    await untilTrue(async () => (await client.links.get(docs[0]!._id)).clicks === 1)
    await page.reload()
    await page.getByText('Clicks: 1 · Visitors: 1').waitFor()
    await page.getByRole('region', { name: 'Devices' }).getByText('Desktop').waitFor()
    await page.getByRole('img', { name: /^QR code of/ }).waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download as PNG' }).click()
    assert.equal((await download).suggestedFilename(), 'spring-sale.png')
  })

  it('a collection: has fields of its own, and entries that they check', async () => {
    const page = await console.open('/collections?new=true')
    const form = page.getByRole('dialog', { name: 'New collection' })
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('Courses')
    await form.getByRole('textbox', { name: 'Name of the field' }).fill('Title')
    await form.getByLabel('Required').check()
    await form.getByRole('button', { name: 'Add field' }).click()
    await form.getByRole('textbox', { name: 'Name of the field' }).last().fill('Contact')
    await form.getByRole('combobox', { name: 'Type of the field' }).last().click()
    await page.getByRole('option', { name: 'Email' }).click()
    await form.getByRole('button', { name: 'Add field' }).click()
    await form.getByRole('textbox', { name: 'Name of the field' }).last().fill('Price')
    await form.getByRole('combobox', { name: 'Type of the field' }).last().click()
    await page.getByRole('option', { name: 'Number' }).click()
    assert.deepEqual(await violationsOf(page, 'the fields of a collection'), [])
    await form.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'Courses', level: 1 }).waitFor()
    await page.keyboard.press('n')
    const entry = page.getByRole('dialog', { name: 'Add entry' })
    await entry.getByLabel('Title').fill('Engines')
    await entry.getByLabel('Contact').fill('nobody@nowhere')
    await page.keyboard.press('Enter')
    await entry.locator('[aria-invalid=true]').waitFor()
    await entry.getByLabel('Contact').fill('teacher@example.com')
    await entry.getByLabel('Price').pressSequentially('19.50')
    await page.keyboard.press('Enter')
    await page.getByRole('cell', { name: '19.5', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Engines' }).click()
    const edit = page.getByRole('dialog', { name: 'Edit entry' })
    await edit.getByLabel('Title').fill('Compilers')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Compilers' }).waitFor()
  })

  it('a collection: says at its fields what the entries refuse that were added meanwhile', async () => {
    const { owner } = console.stack
    const fields = ['One', 'Two'].map(name => ({ slug: name.toLowerCase(), name, type: 'string' }))
    const body = { name: 'Filling', slug: 'filling', fields }
    const { id } = await bodyOf(owner.post<{ id: string }>('/api/collections', body), 201)
    const page = await console.open(`/collections/${id}`)
    await page.getByRole('button', { name: 'More actions for Filling' }).click()
    await page.getByRole('menuitem', { name: /^Edit/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit collection' })
    await dialog.getByRole('checkbox', { name: 'Unique' }).first().check()
    await bodyOf(owner.post(`/api/collections/${id}/entries`, { values: { one: 'a' } }), 201)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('cannot be switched on').waitFor()
    await dialog.getByRole('checkbox', { name: 'Unique' }).first().uncheck()
    await dialog.getByRole('button', { name: 'Remove the field Two' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('two cannot be removed').waitFor()
  })

  it('a form: is set up with its refusals in place, submitted by anyone, and makes an entry and a contact', async () => {
    const fields = [
      { slug: 'topic', name: 'Topic', type: 'string', required: true },
      { slug: 'email', name: 'Email', type: 'email', required: true },
    ]
    const body = { name: 'Questions', slug: 'questions', fields }
    const { id } = await bodyOf(console.stack.owner.post<{ id: string }>('/api/collections', body), 201)
    const page = await console.open(`/collections/${id}?tab=form`)
    const save = page.getByRole('button', { name: 'Save form' })
    const next = page.getByRole('textbox', { name: 'Page after the submission' })
    await next.fill('javascript:void(0)')
    await save.click()
    await page.getByText('Must be an http or https URL').waitFor()
    assert.equal(await next.getAttribute('aria-invalid'), 'true')
    await next.fill('')
    await page.getByRole('textbox', { name: 'Heading' }).fill('Ask us')
    await page.getByRole('textbox', { name: 'Text of the button' }).fill('Ask now')
    const preview = page.getByRole('region', { name: 'Preview' })
    for (const shown of ['Ask us', 'Topic', 'Ask now']) await preview.getByText(shown).waitFor()
    await page.getByRole('switch', { name: 'Make contacts of submissions' }).check()
    await page.getByRole('combobox', { name: 'Tags that they get' }).fill('asked')
    await page.keyboard.press('Enter')
    await save.click()
    await page.getByRole('link', { name: 'Open form' }).waitFor()
    assert.deepEqual(await violationsOf(page, 'the form of a collection'), [])
    const embed = page.getByRole('region', { name: 'Embed' })
    await embed.getByText('HTML', { exact: true }).click()
    const snippet = (await embed.locator('pre').textContent()) ?? ''
    assert.match(snippet, /name="topic" required>[\s\S]*name="email" required>[\s\S]*<button>Ask now<\/button>/)
    const [, action = ''] = /<form method="post" action="([^"]+)">/.exec(snippet) ?? []
    const values = new URLSearchParams({ topic: 'Engines', email: 'asker@example.com' })
    assert.equal((await fetch(action, { method: 'POST', body: values })).status, 201)
    const attribute = { name: 'Subject', slug: 'subject', type: 'string' }
    const { id: attributeId } = await bodyOf(
      console.stack.owner.post<{ id: string }>('/api/audience/attributes', attribute),
      201,
    )
    await page.reload()
    await page.getByRole('combobox', { name: 'Subject from' }).click()
    await page.getByRole('option', { name: 'Topic' }).click()
    await save.click()
    await page.getByRole('status').getByText('Saved').waitFor()
    await bodyOf(console.stack.owner.delete(`/api/audience/attributes/${attributeId}`))
    await page.reload()
    await save.click()
    await page.getByText('unknown attribute').waitFor()
    const gone = page.getByRole('combobox', { name: 'subject from' })
    assert.equal(await gone.getAttribute('aria-invalid'), 'true')
    await gone.click()
    await page.getByRole('option', { name: 'Topic' }).click()
    await save.click()
    await page.getByRole('status').getByText('Saved').waitFor()
    await page.getByRole('link', { name: 'Show submissions' }).click()
    await page.getByRole('link', { name: 'Engines' }).waitFor()
    await eventually('the submission has made a contact', async () => {
      const filter = JSON.stringify({ email: 'asker@example.com', tags: 'asked', source: 'form' })
      return (await bodyOf(console.stack.owner.get<{ totalDocs: number }>('/api/audience', { filter }))).totalDocs
    })
  })

  it('a user: ends all sessions, and resets the second factor', async () => {
    const { id, email, token } = await person('user', 'Signed In')
    await console.signIn({ email, password: PASSWORD })
    const page = await console.open(`/users/${id}`)
    const rows = page.getByRole('table', { name: 'Sessions' }).getByRole('row')
    await rows.nth(2).waitFor()
    await page.getByRole('tab', { name: 'Profile' }).click()
    await page.getByRole('textbox', { name: 'Country' }).fill('DE')
    await page.getByRole('button', { name: 'Save profile' }).click()
    await page.getByRole('status').getByText('Saved').waitFor()
    assert.deepEqual(await violationsOf(page, 'the profile of a user'), [])
    await page.route('**/api/users/*/features', route => route.fulfill({ status: 400, json: { error: 'Refused' } }))
    await page.getByRole('tab', { name: 'Features' }).click()
    await page.getByRole('main').getByRole('alert').waitFor()
    await page.getByRole('tab', { name: 'Sessions and devices' }).click()
    await page.getByRole('button', { name: 'End all sessions' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End all sessions' }).click()
    await page.getByText('No open session.').waitFor()
    assert.equal((await fetch(`${console.url}/api/me`, { headers: { authorization: `Bearer ${token}` } })).status, 401)

    await setUpSecondFactor(console.stack.api.as(await console.signIn({ email, password: PASSWORD })))
    await page.reload()
    await page.getByRole('button', { name: 'More actions for Signed In' }).click()
    await page.getByRole('menuitem', { name: 'Reset second factor' }).click()
    const reset = page.getByRole('dialog', { name: 'Reset the second factor of Signed In?' })
    await reset.getByRole('button', { name: 'Reset second factor' }).click()
    await page.getByRole('status').getByText('Reset the second factor of Signed In').waitFor()
    assert.ok(await console.signIn({ email, password: PASSWORD }))

    const admin = await person('admin', 'An Admin')
    const { user: owner } = await createClient({ baseUrl: console.url, token: console.token }).account.get()
    const theirs = await console.open(`/users/${owner._id}`, { token: admin.token })
    const change = theirs.getByRole('button', { name: 'Change role' })
    await change.and(theirs.locator('[aria-disabled=true]')).waitFor()
    await theirs.getByRole('button', { name: `More actions for ${owner.name}` }).click()
    for (const action of ['Block', 'Delete user'])
      assert.equal(
        await theirs.getByRole('menuitem', { name: action }).getAttribute('title'),
        'The account has a higher rank: owner',
      )
  })

  it('a workspace: invites by a link that is shown once, and invites again', async () => {
    const { id } = await bodyOf(
      console.stack.owner.post<{ id: string }>('/api/workspaces', { name: 'Engines', seats: 4 }),
      201,
    )
    const page = await console.open(`/workspaces/${id}`)
    await page.getByText('1 of 4 seats taken').waitFor()
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('dialog').getByLabel('Email').fill('guest@example.com')
    await page.keyboard.press('Enter')
    const link = page.getByRole('dialog', { name: 'Invited guest@example.com' })
    const first = await link.getByText(/\/invitations\//).textContent()
    await link.getByRole('button', { name: 'Done' }).click()
    await page.getByText('2 of 4 seats taken').waitFor()
    await page.getByRole('button', { name: 'More actions for guest@example.com' }).click()
    await page.getByRole('menuitem', { name: 'Send a new invitation' }).click()
    const second = await link.getByText(/\/invitations\//).textContent()
    assert.notEqual(second, first)

    const members = createClient({ baseUrl: console.url, token: console.token }).members
    const [reader, leader] = [await person('user', 'Reader'), await person('user', 'Leader')]
    await members.add(id, { email: reader.email, role: 'user' })
    await members.add(id, { email: leader.email, role: 'admin' })
    const read = await console.open(`/workspaces/${id}`, { token: reader.token })
    for (const name of ['Edit', 'Invite'])
      await read.getByRole('button', { name }).and(read.locator('[aria-disabled=true]')).waitFor()
    await read.getByRole('button', { name: 'More actions for Engines' }).click()
    assert.ok(await read.getByRole('menuitem', { name: 'Delete workspace' }).isDisabled())

    const lead = await console.open(`/workspaces/${id}`, { token: leader.token })
    await lead.getByRole('button', { name: 'More actions for guest@example.com' }).click()
    for (const name of ['Send a new invitation', 'Revoke invitation'])
      assert.equal(
        await lead.getByRole('menuitem', { name }).getAttribute('title'),
        'Only the sender may revoke an invitation.',
      )
    await lead.keyboard.press('Escape')
    await lead.getByRole('button', { name: 'More actions for Reader' }).click()
    await lead.getByRole('menuitem', { name: 'Change role' }).click()
    const change = lead.getByRole('dialog', { name: 'Role of Reader' })
    await change.getByRole('combobox', { name: 'Role' }).click()
    await lead.getByRole('option', { name: 'admin' }).click()
    await change.getByRole('button', { name: 'Change role' }).click()
    await lead
      .getByRole('row', { name: /^Reader/ })
      .getByText('admin')
      .waitFor()
  })

  it('a webhook: gets events signed, says why it fails, and is sent what it missed', async () => {
    const page = await console.open('/webhooks?new=true')
    const form = page.getByRole('dialog', { name: 'New endpoint' })
    await form.getByLabel('Name').fill('Shop')
    await form.getByLabel('URL').fill(`${receiver.url}/shop`)
    await form.getByLabel('Only some').check()
    await form.getByLabel('Find an event type').fill('list.created')
    await form.getByRole('checkbox', { name: 'list.created' }).check()
    assert.deepEqual(await violationsOf(page, 'the form of a webhook'), [])
    await form.getByRole('button', { name: 'Create', exact: true }).click()
    const once = page.getByRole('dialog', { name: 'Copy the signing secret now' })
    const secret = (await once.getByText(/^whsec_/).textContent()) ?? ''
    await once.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('link', { name: /^Shop/ }).click()
    await page.getByRole('heading', { name: 'Shop', level: 1 }).waitFor()

    receiver.answer({ status: 500, body: 'out of order' })
    await page.getByRole('button', { name: 'Send test' }).click()
    const test = page.getByRole('dialog', { name: 'Send a test to Shop' })
    await test.getByRole('button', { name: 'Send', exact: true }).click()
    await test.getByRole('alert').getByText(/500/).waitFor()
    await page.keyboard.press('Escape')

    receiver.answer({ status: 204 })
    receiver.requests.splice(0)
    const { id } = await bodyOf(
      console.stack.owner.post<{ id: string }>('/api/audience-lists', { name: 'Buyers' }),
      201,
    )
    await untilTrue(async () => receiver.requests.length > 0)
    const { headers, body } = receiver.requests[0]!
    new Verifier(secret).verify(body, headers as Record<string, string>)
    const rows = page.getByRole('table', { name: 'Deliveries' }).getByRole('row')
    await untilTrue(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click()
      return (await rows.filter({ hasText: 'Delivered' }).count()) === 1
    })
    await rows.filter({ hasText: 'Delivered' }).getByRole('link').click()
    const delivery = page.getByRole('dialog', { name: 'list.created' })
    assert.equal(await delivery.locator('pre').last().textContent(), body)
    assert.deepEqual(await violationsOf(page, 'a delivery'), [])
    await delivery.getByRole('button', { name: 'Send again' }).click()
    await delivery.getByText('By hand').waitFor()
    assert.equal(receiver.requests.length, 2)

    await delivery.getByRole('link', { name: 'Show the event' }).click()
    const event = page.getByRole('dialog', { name: 'List created' })
    await event.getByRole('link', { name: 'Shop' }).waitFor()
    assert.deepEqual(await violationsOf(page, 'an event'), [])
    await event.getByRole('button', { name: 'about Buyers' }).click()
    await event.getByRole('button', { name: 'Close' }).click()
    await page.getByText('1–1 of 1').waitFor()
    await page.getByRole('link', { name: 'Buyers' }).click()
    await page.waitForURL(`${console.url}/console/lists/${id}`)
  })

  it('works by the keyboard alone: finds, creates, and returns the focus', async () => {
    const page = await console.open('/')
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    assert.equal(await focused(page), 'Skip to content')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Search and commands' }).waitFor()
    await page.keyboard.type('create token')
    await page.getByRole('option').and(page.locator('[data-combobox-selected]')).getByText('Create token').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Create token' }).waitFor()
    await page.keyboard.type('by keys')
    await page.keyboard.press('Enter')
    const secret = page.getByRole('dialog', { name: 'Copy your token now' })
    await secret.waitFor()
    for (let presses = 0; presses < 10 && (await focused(page)) !== 'I have stored it'; presses++)
      await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await secret.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: /^by keys/ }).waitFor()
    await page.keyboard.press('j')
    assert.match(await focused(page), /^by keys/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'by keys', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Search and commands' }).locator('input').fill('owner')
    await page
      .getByRole('option', { name: /owner@rollcall\.test/ })
      .first()
      .waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })
})

/** Returns the text of the element that has the focus. */
async function focused(page: Page): Promise<string> {
  return String(await page.evaluate('document.activeElement?.textContent ?? ""'))
}

/** Repeats a check of the page until it holds. */
function untilTrue(check: () => Promise<boolean>): Promise<boolean> {
  return eventually('the page shows it', check, { withinMs: 60_000, everyMs: 200 })
}
