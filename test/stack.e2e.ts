import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '@rollcall/testing/eventually'
import { bodyOf, createApi, makeToken } from './api.ts'
import { OWNER, startStack } from './stack.ts'

type Me = { kind: string; user: { email: string }; role: string }

test('an owner signs in, and a token works at every gateway', async () => {
  const stack = await startStack({ gateways: 2 })
  try {
    const me = await bodyOf(stack.owner.get<Me>('/api/auth/me'))
    assert.deepEqual([me.kind, me.user.email, me.role], ['session', OWNER.email, 'owner'])
    const token = await makeToken(stack.owner)
    for (const url of stack.urls) assert.equal((await bodyOf(token.api.at(url).get<Me>('/api/auth/me'))).kind, 'token')
    assert.equal((await createApi(stack.urls[0] ?? '').get('/api/auth/me')).status, 401)
  } finally {
    await stack.stop()
  }
})

test('a killed service comes back where it was', async () => {
  const stack = await startStack({ processes: ['audience'] })
  try {
    const [audience] = stack.instances('audience')
    assert.equal((await stack.owner.get('/api/audience')).status, 200)
    await audience?.kill()
    assert.equal((await stack.owner.get('/api/audience')).status, 503)
    await audience?.start()
    const answers = async () => (await stack.owner.get('/api/audience')).status === 200
    await eventually('the audience answers again', answers, { withinMs: 5000 })
  } finally {
    await stack.stop()
  }
})
