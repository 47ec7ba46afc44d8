import assert from 'node:assert/strict'
import { it } from 'node:test'
import { PASSWORD, startHarness, unique } from '../../test/identity.ts'

it('accounts of international addresses are found by the key of this version', async test => {
  const harness = await startHarness({})
  test.after(harness.stop)
  const owner = await harness.register()
  const users = harness.db.collection('users')
  const former = `${unique('owner')}@bücher.example`
  await users.updateOne({ email: owner.email }, { $set: { email: former, emailKey: former } })
  const login = () => harness.public.authentication.login({ email: former, password: PASSWORD })
  await assert.rejects(login(), { status: 401 })
  const restarted = await startHarness({
    MONGODB_DATABASE: harness.config.MONGODB_DATABASE,
    TOPIC_PREFIX: harness.config.TOPIC_PREFIX,
  })
  test.after(restarted.stop)
  await login()
})
