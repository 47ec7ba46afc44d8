import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { credentials, Client as GrpcClient, Metadata, status } from '@grpc/grpc-js'
import { AppError } from '@rollcall/contract'
import { generateSecret } from '@rollcall/credentials'
import { freePort, LOCALHOST, SERVICES, type ServiceName } from '@rollcall/local'
import type { ResolvedCredential } from '@rollcall/protos/gen/identity-v1.ts'
import {
  type Caller,
  connect,
  createSigner,
  newKeySettings,
  type RpcServer,
  readTrust,
  serve,
  serviceCaller,
} from '@rollcall/rpc'
import { createLogger } from '@rollcall/runtime'
import { bodyOf } from '../api.ts'
import { startStack, type TestStack } from '../stack.ts'

/** An organization whose tenant server the attacker controls. */
const attacker = 'badcab'.repeat(4)
const tenantKeys = newKeySettings(['gateway']).gateway
const logger = createLogger({ service: 'inside-trust', level: 'silent' })

describe('finding 14: inside trust', () => {
  let stack: TestStack
  let tenantServer: RpcServer
  const closing: (() => void)[] = []
  let victim: string
  /** The answer of the tenant server to every token. */
  let answer: ResolvedCredential

  before(async () => {
    const port = await freePort()
    stack = await startStack({
      settings: { REGISTRATION: 'open' },
      settingsOf: {
        gateway: {
          TENANT_SERVERS: `${attacker}=${LOCALHOST}:${port}`,
          TENANT_ASSERTION_KEY: tenantKeys.ASSERTION_KEY,
        },
      },
    })
    const me = await bodyOf(stack.owner.get<{ organization: { id: string } }>('/api/auth/me'))
    victim = me.organization.id
    tenantServer = await serve({
      services: {
        'rollcall.identity.v1.Credentials': {
          resolveToken: async () => answer,
          resolveSession: async () => {
            throw new AppError('session.invalid')
          },
        },
      },
      host: LOCALHOST,
      port,
      logger,
      trust: readTrust(tenantKeys),
    })
  })
  after(async () => {
    for (const close of closing) close()
    await tenantServer.stop()
    await stack.stop()
  })

  describe('a tenant server', () => {
    const resolved = (fields: Partial<ResolvedCredential>): ResolvedCredential => ({
      kind: 'token',
      organizationId: attacker,
      userId: 'decade'.repeat(4),
      userName: 'Attacker',
      role: 'owner',
      permissions: ['*'],
      readOnly: false,
      allowedIps: [],
      allowedOrigins: [],
      ...fields,
    })
    const members = async () => {
      const { id } = await bodyOf(stack.owner.post<{ id: string }>('/api/workspaces', { name: 'Victim' }), 201)
      return stack.api.as(`${attacker}:${generateSecret()}`).get(`/api/workspaces/${id}/members`)
    }

    it('resolves the tokens of its own organization', async () => {
      answer = resolved({})
      await bodyOf(members(), 404)
    })

    it('cannot answer for another organization', async () => {
      answer = resolved({ organizationId: victim })
      await bodyOf(members(), 401)
    })

    it('cannot answer a token with a session', async () => {
      answer = resolved({ kind: 'session', sessionId: 'c0ffee'.repeat(4) })
      await bodyOf(members(), 401)
    })
  })

  describe('a service that was taken over', () => {
    const owner = (): Caller => ({ ...serviceCaller('anyone', victim), kind: 'session', userId: 'decade'.repeat(4) })
    const connectTo = (service: ServiceName, as: ServiceName) => {
      const address = `${LOCALHOST}:${stack.instances(service)[0]!.port}`
      const connection = connect({ address, trust: stack.trust(as), deadlineMs: 5_000 })
      closing.push(connection.close)
      return connection
    }
    const refused = { code: 'caller.issuer_denied' }

    it('signs for no person and no token', async () => {
      const users = connectTo('identity', 'import').client('rollcall.identity.v1.Users')
      await assert.rejects(firstOf(users.listUsers({}, { caller: owner() })), refused)
      const contacts = connectTo('audience', 'messaging').client('rollcall.audience.v1.Contacts')
      await assert.rejects(firstOf(contacts.exportContacts({}, { caller: owner() })), refused)
    })

    it('is no other service', async () => {
      const asking = { organizationId: victim, hashes: ['x'] }
      for (const name of ['gateway', 'import']) {
        const credentials = connectTo('identity', 'import').client('rollcall.identity.v1.Credentials')
        await assert.rejects(credentials.resolveToken(asking, { caller: serviceCaller(name, victim) }), refused)
      }
      const mail = connectTo('messaging', 'audience').client('rollcall.messaging.v1.Mail')
      const message = { key: 'k', to: 'someone@example.com', subject: 'Subject', text: 'Text' }
      await assert.rejects(mail.sendMail(message, { caller: serviceCaller('audience', victim) }), refused)
    })

    it('holds no key but its own', () => {
      const keys = Object.fromEntries(
        SERVICES.map(service => [service, Object.keys(stack.instances(service)[0]!.environment).filter(isKey).sort()]),
      )
      const own = ['ASSERTION_KEY', 'ASSERTION_PUBLIC_KEYS']
      assert.deepEqual(keys, {
        identity: [...own, 'SECRET_KEYS', 'SESSION_KEYS', 'TOKEN_KEY'],
        audience: [...own, 'ERASURE_KEYS'],
        messaging: [...own, 'ERASURE_KEYS', 'LINK_KEYS', 'SECRET_KEYS'],
        campaigns: own,
        import: own,
        webhooks: [...own, 'SECRET_KEYS'],
        content: [...own, 'LINK_KEYS'],
        gateway: [...own, 'SESSION_KEYS', 'TENANT_ASSERTION_KEY', 'TOKEN_KEY'],
      })
    })
  })

  it('an intercepted assertion is valid only for its own rpc', async () => {
    const caller: Caller = { ...serviceCaller('owner', victim), kind: 'session', userId: 'decade'.repeat(4) }
    const [read, remove] = ['/rollcall.audience.v1.Contacts/GetContact', '/rollcall.audience.v1.Contacts/DeleteContact']
    const seen = createSigner(stack.trust('gateway').signingKey)(caller, read!)
    const replay = (rpc: string) => callWith(stack.instances('audience')[0]!.port, rpc, seen)
    assert.equal(await replay(read!), status.NOT_FOUND)
    assert.equal(await replay(remove!), status.UNAUTHENTICATED)
  })
})

const isKey = (variable: string) => /_KEYS?$/.test(variable)

async function firstOf(answers: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of answers) return
}

/** Calls an rpc about an unknown record with a foreign assertion; returns the gRPC status. */
function callWith(port: number, rpc: string, assertion: string): Promise<number> {
  const client = new GrpcClient(`${LOCALHOST}:${port}`, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('rollcall-caller', assertion)
  const id = Buffer.from(`\x0a\x18${'c0ffee'.repeat(4)}`) // field 1
  return new Promise(resolve => {
    const answered = (error: { code: number } | null) => {
      client.close()
      resolve(error?.code ?? status.OK)
    }
    client.makeUnaryRequest(
      rpc,
      () => id,
      bytes => bytes,
      null,
      metadata,
      { deadline: Date.now() + 5_000 },
      answered,
    )
  })
}
