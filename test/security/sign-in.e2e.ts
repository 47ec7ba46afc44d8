import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Answer, type Api, bodyOf, makeToken, signIn } from '../api.ts'
import { fromElsewhere, manyAddresses } from '../every-route.ts'
import { type Mailbox, openMailbox } from '../identity/mailbox.ts'
import { password, unique } from '../identity/people.ts'
import { startStack, type TestStack } from '../stack.ts'

type SignIn = { token: string; user: { id: string; emailVerified: boolean } }
type Registration = SignIn & { organization: { id: string } }
type CodeRequest = { success: boolean; message: string; requestId: string }
type Account = { email: string; id: string }

const unauthorized = [401, 'Unauthorized']
const maxFailures = 10

let stack: TestStack
let mailbox: Mailbox

before(async () => {
  mailbox = await openMailbox()
  const settings = { ...manyAddresses, ...mailbox.settings, REGISTRATION: 'open', PASSWORD_QUEUE: '20' }
  stack = await startStack({ settings })
})
after(async () => {
  await stack.stop()
  await mailbox.remove()
})

const owner = () => fromElsewhere(stack.owner)
const post = <Body>(path: string, body?: unknown) => fromElsewhere(stack.api).post<Body>(`/api/auth/${path}`, body)
const login = (email: string, tried = password, orgId?: string) =>
  post<SignIn>('login', { email, password: tried, ...(orgId && { orgId }) })
const plain = async (answer: Promise<Answer>) => {
  const { status, text } = await answer
  return [status, text]
}
const statusOf = async (answer: Promise<Answer>) => (await answer).status
const newEmail = () => `${unique('sign-in')}@example.com`
const meOf = (token: string) => fromElsewhere(stack.api.as(token)).get('/api/auth/me')

/** Creates an account whose password an administrator chose. */
async function addAccount(email = newEmail()): Promise<Account> {
  const account = { name: 'Person', email, password }
  const { id } = await bodyOf(owner().post<{ id: string }>('/api/users', account), 201)
  return { email, id }
}

/** Creates an account whose user has set the password by a mailed link. */
async function addVerified(): Promise<Account> {
  const email = newEmail()
  let id = ''
  const text = await mailbox.next(email, async () => {
    id = (await bodyOf(owner().post<{ id: string }>('/api/users', { name: 'Person', email }), 201)).id
  })
  await bodyOf(post('password/reset', { token: linkTokenOf(text), password }))
  return { email, id }
}

async function register(email: string, chosen = password): Promise<Registration> {
  return bodyOf(post<Registration>('register', { name: 'Attacker', email, password: chosen }), 201)
}

async function failToSignIn(email: string, times: number): Promise<void> {
  for (let time = 0; time < times; time++)
    assert.deepEqual(await plain(login(email, `wrong password ${time}`)), unauthorized)
}

/** Requests a code; returns the mailed code and the id of the request. */
async function requestCode(email: string): Promise<{ code: string; requestId: string }> {
  let requestId = ''
  const text = await mailbox.next(email, async () => {
    requestId = (await bodyOf(post<CodeRequest>('otp/request', { email }))).requestId
  })
  return { code: /^(\d{6}) is/m.exec(text)![1]!, requestId }
}
const verify = (email: string, code: string, requestId?: string) =>
  post<SignIn>('otp/verify', { email, code, ...(requestId && { requestId }) })
const otherThan = (code: string, by = 1) => String((Number(code) + by) % 1_000_000).padStart(6, '0')

const linkTokenOf = (mail: string) => /set-password\?token=(\w+)/.exec(mail)![1]!
const resetLinkOf = async (email: string) =>
  linkTokenOf(await mailbox.next(email, () => bodyOf(post('password/forgot', { email }))))

/** Invites an address into a new workspace; returns the secret of the mailed link. */
async function inviteByMail(email: string): Promise<string> {
  const { id } = await bodyOf(owner().post<{ id: string }>('/api/workspaces', { name: unique('workspace') }), 201)
  const mail = await mailbox.next(email, () =>
    bodyOf(owner().post(`/api/workspaces/${id}/invitations`, { email, role: 'user' }), 201),
  )
  return /invitations\/(\w+)/.exec(mail)![1]!
}

describe('finding 7: guessing at sign-in', () => {
  it('ten wrong passwords from ten addresses lock the account, and no other', async () => {
    const [{ email }, other] = [await addAccount(), await addAccount()]
    await failToSignIn(email, maxFailures)
    assert.deepEqual(await plain(login(email)), unauthorized)
    await bodyOf(login(other.email))
  })

  it('guesses made at once count as those made one by one', async () => {
    const { email } = await addAccount()
    const guesses = Array.from({ length: 3 * maxFailures }, (_, guess) => login(email, `wrong password ${guess}`))
    await Promise.all(guesses)
    assert.deepEqual(await plain(login(email)), unauthorized)
  })

  it('signing in at once, however often, is no guessing', async () => {
    const { email } = await addAccount()
    const answers = await Promise.all(Array.from({ length: maxFailures + 4 }, () => statusOf(login(email))))
    assert.deepEqual(new Set(answers), new Set([200]))
  })

  it('a success resets the count', async () => {
    const { email } = await addAccount()
    for (let round = 0; round < 2; round++) {
      await failToSignIn(email, maxFailures - 1)
      await bodyOf(login(email))
    }
  })

  it('a success at an account of the same address elsewhere does not', async () => {
    const { email } = await addAccount()
    const { organization } = await register(email, 'chosen by an attacker')
    for (let round = 0; round < 2; round++) {
      await failToSignIn(email, maxFailures / 2)
      await bodyOf(login(email, 'chosen by an attacker', organization.id))
    }
    assert.deepEqual(await plain(login(email)), unauthorized)
  })

  it('wrong codes count with wrong passwords', async () => {
    const { email } = await addAccount()
    const { code, requestId } = await requestCode(email)
    for (let by = 1; by <= 5; by++)
      assert.deepEqual(await plain(verify(email, otherThan(code, by), requestId)), unauthorized)
    await failToSignIn(email, maxFailures - 5)
    assert.deepEqual(await plain(login(email)), unauthorized)
  })

  it('users are not locked out: their own code and the link of a mail still work', async () => {
    const { email } = await addAccount()
    await failToSignIn(email, maxFailures)
    const { code, requestId } = await requestCode(email)
    await bodyOf(verify(email, code, requestId))
    await failToSignIn(email, maxFailures)
    const token = await resetLinkOf(email)
    await bodyOf(post('password/reset', { token, password: 'set by the link' }))
    await bodyOf(login(email, 'set by the link'))
  })

  it('a code is valid for its own request, also if others request codes', async () => {
    const { email } = await addAccount()
    const mine = await requestCode(email)
    const theirs = await requestCode(email)
    assert.deepEqual(await plain(verify(email, mine.code, theirs.requestId)), unauthorized)
    const { message } = await bodyOf(post<{ message: string }>('otp/verify', { email, code: mine.code }), 400)
    assert.equal(message, 'missing field -> requestId')
    await bodyOf(verify(email, mine.code, mine.requestId))
  })

  it('guesses without the request’s id use up no code', async () => {
    const { email } = await addAccount()
    const { code, requestId } = await requestCode(email)
    for (let by = 1; by <= 7; by++) assert.deepEqual(await plain(verify(email, otherThan(code, by))), unauthorized)
    await bodyOf(verify(email, code, requestId))
  })

  it('a code is mailed five times an hour, and the answer does not show it', async () => {
    const { email } = await addAccount()
    for (let sent = 0; sent < 5; sent++) await requestCode(email)
    const beyond = await bodyOf(post<CodeRequest>('otp/request', { email }))
    assert.deepEqual(
      { ...beyond, requestId: beyond.requestId.length > 20 },
      {
        success: true,
        message: 'sent, if there is such an account',
        requestId: true,
      },
    )
    await requestCode((await addAccount()).email)
    assert.equal((await mailbox.to(email)).length, 5)
  })
})

describe('finding 11: one organization’s passwords', () => {
  it('in large numbers do not block sign-ins', async () => {
    const { email } = await addAccount()
    const { token } = await register(newEmail())
    const flooder = stack.api.as(token)
    const made = Array.from({ length: 45 }, () =>
      statusOf(fromElsewhere(flooder).post('/api/users', { name: 'X', email: newEmail(), password })),
    )
    const signedIn = await Promise.all(Array.from({ length: 10 }, () => statusOf(login(email))))
    assert.deepEqual(signedIn, Array(10).fill(200))
    assert.ok((await Promise.all(made)).includes(429))
  })

  it('of an address with ten accounts cost a sign-in a few hashes', async () => {
    const { email } = await addAccount()
    for (let account = 0; account < 9; account++) await register(email, `chosen by an attacker ${account}`)
    await bodyOf(login(email))
    assert.deepEqual(await plain(login(email, 'chosen by an attacker 8')), unauthorized)
  })
})

describe('finding 13: accounts registered for somebody else’s address', () => {
  it('do not make the sign-in of a verified account ambiguous', async () => {
    const { email, id } = await addVerified()
    await register(email)
    assert.equal((await bodyOf(login(email))).user.id, id)
    const { code, requestId } = await requestCode(email)
    assert.equal((await bodyOf(verify(email, code, requestId))).user.id, id)
  })

  it('do not make the sign-in ambiguous of an account that was made by its organization', async () => {
    const { email, id } = await addAccount()
    await register(email)
    assert.equal((await bodyOf(login(email))).user.id, id)
  })

  it('mail only their owner until the address is verified', async () => {
    const email = newEmail()
    const attacker = fromElsewhere(stack.api.as((await register(email)).token))
    const { id } = await bodyOf(attacker.post<{ id: string }>('/api/workspaces', { name: unique('workspace') }), 201)
    const mailing = () => [
      attacker.post('/api/users', { name: 'Victim', email: newEmail() }),
      attacker.post(`/api/workspaces/${id}/invitations`, { email: newEmail(), role: 'user' }),
    ]
    assert.deepEqual(await Promise.all(mailing().map(statusOf)), [403, 403])
    await bodyOf(post('password/reset', { token: await resetLinkOf(email), password }))
    const { token } = await bodyOf(login(email))
    await bodyOf(fromElsewhere(stack.api.as(token)).post('/api/users', { name: 'Colleague', email: newEmail() }), 201)
  })

  it('lose password and sessions when the owner of the mailbox verifies it', async () => {
    for (const prove of ['code', 'link', 'invitation']) {
      const email = newEmail()
      const attacker = await register(email, 'chosen by an attacker')
      const tokenOfAttacker = await makeToken(fromElsewhere(stack.api.as(attacker.token)))
      if (prove === 'code') {
        const { code, requestId } = await requestCode(email)
        assert.equal((await bodyOf(verify(email, code, requestId))).user.emailVerified, true)
      } else if (prove === 'link') {
        await bodyOf(post('password/reset', { token: await resetLinkOf(email), password }))
      } else {
        const secret = await inviteByMail(email)
        await bodyOf(fromElsewhere(stack.api).post(`/api/invitations/${secret}/accept`, { name: 'Person', password }))
      }
      assert.deepEqual(await plain(meOf(attacker.token)), unauthorized, prove)
      assert.deepEqual(await plain(login(email, 'chosen by an attacker')), unauthorized, prove)
      assert.equal(await statusOf(fromElsewhere(tokenOfAttacker.api).get('/api/auth/me')), 401, prove)
    }
  })

  it('lose them also when it is proved at another account', async () => {
    const { email } = await addAccount()
    const attacker = await register(email, 'chosen by an attacker')
    await bodyOf(post('password/reset', { token: await resetLinkOf(email), password: 'set by the link' }))
    assert.deepEqual(await plain(meOf(attacker.token)), unauthorized)
    assert.deepEqual(await plain(login(email, 'chosen by an attacker', attacker.organization.id)), unauthorized)
    await bodyOf(login(email, 'set by the link'))
  })
})

describe('finding 22: passwords that everybody tries first', () => {
  const common = 'Password123'
  const refused = async (answer: Promise<Answer<{ message: string; path: string }>>) => {
    const { message, path } = await bodyOf(answer, 400)
    assert.equal(path, 'password')
    assert.match(message, /^invalid field -> password: /)
  }

  it('are refused wherever a password is set', async () => {
    await refused(post('register', { name: 'X', email: newEmail(), password: common }))
    await refused(owner().post('/api/users', { name: 'X', email: newEmail(), password: common }))
    const { email } = await addAccount()
    const token = await resetLinkOf(email)
    await refused(post('password/reset', { token, password: common }))
    await bodyOf(post('password/reset', { token, password: 'set by the link' }))
    const secret = await inviteByMail(newEmail())
    await refused(fromElsewhere(stack.api).post(`/api/invitations/${secret}/accept`, { name: 'X', password: common }))
  })
})

describe('finding 23: what outlives a password', () => {
  type Client = { client_id: string; client_secret: string }
  const exchange = async (subject: string) => {
    const { client_id, client_secret } = await bodyOf(post<Client>('clients', { client_name: 'Sync' }), 201)
    const request = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: subject,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      client_id,
      client_secret,
    }
    return (await bodyOf(post<{ access_token: string }>('token', request))).access_token
  }
  const addOwner = async () => {
    const email = newEmail()
    await bodyOf(owner().post('/api/users', { name: 'Person', email, password, role: 'owner' }), 201)
    const api: Api = fromElsewhere(await signIn(fromElsewhere(stack.api), email, password))
    return { email, api, token: api.headers.authorization! }
  }

  it('the mail names the API tokens that stay, and exchanged sessions end with the others', async () => {
    const { email, api, token } = await addOwner()
    const apiTokens = [await makeToken(api), await makeToken(api)]
    const exchanged = [await exchange(token), await exchange(apiTokens[0]!.token)]
    const mail = await mailbox.next(email, () => bodyOf(post('password/forgot', { email })))
    assert.match(mail, /2 API tokens/)
    await bodyOf(post('password/reset', { token: linkTokenOf(mail), password: 'set by the link' }))
    for (const session of [token, ...exchanged]) assert.deepEqual(await plain(meOf(session)), unauthorized)
    for (const { token } of apiTokens) await bodyOf(meOf(token))
  })

  it('deactivateTokens deactivates the tokens of this user only', async () => {
    const { email, api } = await addOwner()
    const [mine, theirs] = [await makeToken(api), await makeToken(owner())]
    await bodyOf(meOf(mine.token))
    const token = await resetLinkOf(email)
    await bodyOf(post('password/reset', { token, password: 'set by the link', deactivateTokens: true }))
    assert.deepEqual(await plain(meOf(mine.token)), unauthorized)
    await bodyOf(meOf(theirs.token))
  })
})

describe('F13: the OAuth endpoints', () => {
  it('are named as the one exception to the shapes of errors', async () => {
    type Operation = { description: string }
    const { paths } = (await (await fetch(`${stack.api.url}/openapi.json`)).json()) as {
      paths: Record<string, { post: Operation }>
    }
    for (const path of ['/api/auth/token', '/api/auth/clients'])
      assert.match(paths[path]!.post.description, /\{error, error_description\}/, path)
  })
})

describe('GET /api/auth/me', () => {
  it('shows the token with _id and id, like every record', async () => {
    const { api, id } = await makeToken(owner())
    const { token } = await bodyOf(api.get<{ token: object }>('/api/auth/me'))
    const { name, ...ids } = token as Record<string, string>
    assert.ok(name)
    assert.deepEqual(ids, { _id: id, id })
  })
})
