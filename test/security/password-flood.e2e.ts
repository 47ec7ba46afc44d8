import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { createPasswordQueue, type PasswordQueue } from '../../services/identity/src/users/password-queue.ts'
import { createPasswords } from '../../services/identity/src/users/passwords.ts'
import { counted } from '../soak.ts'

/** Like in a service, with a shorter queue that fills quickly. */
const limits = { parallelism: 2, maxWaiting: 50, maxWaitingPerSetter: 2 }
const flooding = 80
/** The deadline of the gateway. */
const TIMEOUT_MS = 10_000

/** The naive variant: one queue for all. */
function naiveQueue(): PasswordQueue {
  const { signIn } = createPasswordQueue(limits)
  return { signIn, set: signIn }
}

/** Measures sign-ins while one organization keeps setting passwords from many addresses. */
async function signInsDuringFlood(queue: PasswordQueue, signIns: number) {
  const passwords = await createPasswords(limits, queue)
  const passwordHash = await passwords.hash('correct horse', {})
  let isOver = false
  let address = 0
  const flood = async () => {
    while (!isOver) {
      const setter = { organizationId: 'flooder', ip: `address ${address++}` }
      await passwords.hash('correct horse', setter).catch(() => sleep(1))
    }
  }
  const floods = Array.from({ length: flooding }, flood)
  let failed = 0
  for (let signIn = 0; signIn < signIns; signIn++) {
    const startedAt = performance.now()
    const fits = await passwords.fits('correct horse', passwordHash).catch(() => false)
    if (!fits || performance.now() - startedAt > scaledTimeout(TIMEOUT_MS)) failed++
  }
  isOver = true
  await Promise.all(floods)
  return failed
}

describe('one organization that sets passwords without end', () => {
  it('does not block sign-ins', async () => {
    assert.equal(await signInsDuringFlood(createPasswordQueue(limits), counted(50, 5_000)), 0)
  })

  it('would, were there one line for all', async () => {
    assert.ok((await signInsDuringFlood(naiveQueue(), counted(50, 500))) > 0)
  })
})
