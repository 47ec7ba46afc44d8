import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { eventually } from '@rollcall/testing/eventually'
import { type Api, bodyOf, makeToken } from '../api.ts'
import { fromElsewhere } from '../every-route.ts'
import { type Founder, found, setUpSecondFactor } from './founder.ts'
import { addPerson, password, type Refusal, unique } from './people.ts'
import { type IdentityStack, startIdentityStack } from './shared-stack.ts'

const run = promisify(execFile)

type FirstFactor = { mfaRequired?: true; mfaToken: string; methods: string[]; token?: string }
type SignIn = { token: string; expiresAt: string; user: { id: string } }

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const required = { error: true, message: 'second factor required' }

describe('the second factor', () => {
  let stack: IdentityStack
  before(async () => {
    stack = await startIdentityStack()
  })
  after(() => stack?.stop())

  const post = <Body>(path: string, body: object) => fromElsewhere(stack.api).post<Body>(`/api/auth/${path}`, body)
  const login = ({ email }: { email: string }) => bodyOf(post<FirstFactor>('login', { email, password }))
  const refusalOf = async (answer: Promise<{ status: number; body: unknown; headers: Headers }>) => {
    const { status, body, headers } = await answer
    return { status, body, code: headers.get('x-error-code') }
  }
  const isOpen = async (api: Api) => (await fromElsewhere(api).get('/api/audience/tags')).status
  const addMember = async ({ api, organizationId }: Founder, role = 'user') => {
    const email = `${unique('member')}@example.com`
    const { id } = await bodyOf(
      fromElsewhere(api).post<{ id: string }>('/api/users', { name: 'Member', email, password, role }),
      201,
    )
    const { token } = await bodyOf(post<SignIn>('login', { email, password, orgId: organizationId }))
    return { id, email, token, api: fromElsewhere(stack.api.as(token)) }
  }

  it('is asked for by password and by mailed code, and only its answer sets the cookie', async () => {
    const person = await addPerson(stack)
    const { code, recoveryCodes } = await setUpSecondFactor(person.api)
    const first = await post<FirstFactor>('login', { email: person.email, password })
    const { mfaToken, ...rest } = first.body
    assert.equal(first.status, 200)
    assert.deepEqual(rest, { mfaRequired: true, methods: ['totp', 'recovery_code'] })
    assert.deepEqual(first.headers.getSetCookie(), [])
    const second = await post<SignIn>('mfa', { mfaToken, code: code() })
    assert.equal(second.headers.getSetCookie().length, 1)
    assert.deepEqual(Object.keys(second.body).sort(), ['expiresAt', 'token', 'user'])
    assert.equal(await isOpen(stack.api.as(second.body.token)), 200)

    let request: { requestId?: string } = {}
    const mail = await stack.mailbox.next(person.email, async () => {
      request = await bodyOf(post<{ requestId: string }>('otp/request', { email: person.email }))
    })
    const mailed = { email: person.email, code: /\d{6}/.exec(mail)![0], requestId: request.requestId }
    const byCode = await bodyOf(post<FirstFactor>('otp/verify', mailed))
    assert.deepEqual([byCode.mfaRequired, byCode.token], [true, undefined])
    const { token } = await bodyOf(post<SignIn>('mfa', { mfaToken: byCode.mfaToken, code: recoveryCodes[0] }))
    const me = await bodyOf(stack.api.as(token).get<{ mfa: object }>('/api/me'))
    assert.deepEqual(me.mfa, { totp: true, recoveryCodesLeft: 9, required: false })
  })

  it('is turned off by the operator for an only owner who has lost it', async () => {
    const founder = await found(stack)
    await setUpSecondFactor(founder.api)
    const program = join(import.meta.dirname, '../../libs/admin/src/rollcall-admin.ts')
    const reset = ['reset-second-factor', founder.organizationId, founder.email]
    const env = { ...process.env, ...stack.instances('identity')[0]!.environment }
    await run(process.execPath, [program, ...reset], { env })
    assert.equal((await fromElsewhere(founder.api).get('/api/me')).status, 401)
    assert.ok((await login(founder)).token)
    await eventually('a notice', async () =>
      (await stack.mailbox.to(founder.email)).find(text => text.includes('turned off the second factor')),
    )
  })

  it('has one answer of each refusal, with its code', async () => {
    const founder = await found(stack)
    const { code } = await setUpSecondFactor(founder.api)
    const { mfaToken } = await login(founder)
    const wrong = { status: 401, body: 'Unauthorized', code: 'sign_in.wrong_second_factor' }
    assert.deepEqual(await refusalOf(post('mfa', { mfaToken, code: '000000' })), wrong)
    assert.deepEqual(await refusalOf(post('mfa', { mfaToken: 'unknown', code: code() })), {
      ...wrong,
      code: 'sign_in.expired',
    })
    const missing = { error: true, message: 'missing field -> code', path: 'code' }
    assert.deepEqual((await refusalOf(post('mfa', { mfaToken }))).body, missing)
    const on = await refusalOf(founder.api.post('/api/me/totp'))
    assert.deepEqual([on.status, on.code], [409, 'second_factor.on'])
    const remove = (body: object) => refusalOf(fromElsewhere(founder.api).delete('/api/me/totp', body))
    const wrongPassword = { error: true, message: 'invalid field -> password', path: 'password' }
    assert.deepEqual((await remove({ password: 'wrong', code: '000000' })).body, wrongPassword)
    const wrongCode = { error: true, message: 'invalid field -> code', path: 'code' }
    assert.deepEqual((await remove({ password, code: '000000' })).body, wrongCode)
  })

  it('concerns sessions only: a token may neither set it up nor turn it off', async () => {
    const { api } = await makeToken(fromElsewhere(stack.owner))
    for (const [verb, path, body] of [
      ['POST', '/api/me/totp', undefined],
      ['POST', '/api/me/totp/confirm', { code: '000000' }],
      ['DELETE', '/api/me/totp', { password, code: '000000' }],
    ] as const)
      assert.equal((await refusalOf(fromElsewhere(api).request(verb, path, { body }))).code, 'access.session_required')
  })

  describe('required by the organization', () => {
    let founder: Founder
    let member: Awaited<ReturnType<typeof addMember>>
    let admin: Awaited<ReturnType<typeof addMember>>
    let token: Api
    const require = (requireMfa: boolean) => fromElsewhere(founder.api).patch<Refusal>('/api/settings', { requireMfa })
    before(async () => {
      founder = await found(stack)
      member = await addMember(founder)
      admin = await addMember(founder, 'admin')
      token = (
        await makeToken(fromElsewhere(admin.api), { role: 'owner' }).catch(() => makeToken(fromElsewhere(admin.api)))
      ).api
    })

    it('is refused to a user without one', async () => {
      const { status, body } = await require(true)
      const refusal = { error: true, message: 'set up your own second factor first', path: 'requireMfa' }
      assert.deepEqual([status, body], [409, refusal])
    })

    it('holds people without one at once, on every route but their own account and sign-in', async () => {
      assert.equal(await isOpen(member.api), 200)
      await setUpSecondFactor(founder.api)
      await bodyOf(require(true))
      assert.equal(await isOpen(founder.api), 200)
      for (const [verb, path] of [
        ['GET', '/api/audience'],
        ['GET', '/api/settings'],
        ['POST', '/api/audience'],
      ] as const) {
        const { status, body, code } = await refusalOf(fromElsewhere(member.api).request(verb, path))
        assert.deepEqual([status, body, code], [403, required, 'access.second_factor_required'])
      }
      assert.equal((await fromElsewhere(member.api).get('/api/nothing')).status, 404)
      const me = await bodyOf(fromElsewhere(member.api).get<{ mfa: object }>('/api/me'))
      assert.deepEqual(me.mfa, { totp: false, recoveryCodesLeft: 0, required: true })
      await bodyOf(fromElsewhere(member.api).get('/api/auth/me'))
    })

    it('does not concern API tokens', async () => assert.equal(await isOpen(token), 200))

    it('holds exchanged sessions and impersonations of people without one', async () => {
      const client = await bodyOf(post<{ client_id: string; client_secret: string }>('clients', {}), 201)
      const exchanged = await bodyOf(
        post<{ access_token: string }>('token', {
          ...{ client_id: client.client_id, client_secret: client.client_secret },
          ...{ grant_type: EXCHANGE, subject_token: member.token, subject_token_type: ACCESS_TOKEN },
        }),
      )
      assert.equal(await isOpen(stack.api.as(exchanged.access_token)), 403)
      const impersonate = async (api: Api) => {
        const answer = fromElsewhere(api).post<SignIn>('/api/auth/impersonate', { userId: member.id })
        return isOpen(stack.api.as((await bodyOf(answer)).token))
      }
      assert.equal(await impersonate(admin.api), 403)
      assert.equal(await impersonate(founder.api), 200)
    })

    it('lets people in once they have set one up, and all once it is not required', async () => {
      const factor = await setUpSecondFactor(member.api)
      assert.equal(await isOpen(member.api), 200)
      const remove = () => fromElsewhere(member.api).delete('/api/me/totp', { password, code: factor.recoveryCodes[0] })
      assert.equal((await refusalOf(remove())).code, 'second_factor.required')
      assert.equal(await isOpen(admin.api), 403)
      await bodyOf(require(false))
      assert.equal(await isOpen(admin.api), 200)
      await bodyOf(remove())
    })
  })
})
