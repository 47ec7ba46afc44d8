import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { it } from 'node:test'
import { within } from '@rollcall/runtime'
import { linkTo } from '@rollcall/testing/link'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { testStore } from '../../test/store.ts'

it('a command whose connection has just broken is answered, so that the process finds the server again', async () => {
  const sockets: Socket[] = []
  const note = (message: unknown) => void sockets.push((message as { socket: Socket }).socket)
  subscribe('net.client.socket', note)
  const { store, drop } = await testStore({ poolSize: 1 })
  unsubscribe('net.client.socket', note)
  await store.ping()
  const broken = sockets.filter(({ destroyed }) => !destroyed)
  assert.ok(broken.length > 0)
  for (const socket of broken) socket.destroy() // its event `close` comes later
  await within(scaledTimeout(10_000), 'the command', () => store.ping().catch(() => undefined))
  await within(scaledTimeout(10_000), 'the next command', () => store.ping())
  await drop()
})

it('a server that comes up after the service is found', async () => {
  const link = await linkTo(process.env.MONGODB_URL!)
  link.become('cut')
  setTimeout(() => link.become('open'), 5500) // after the driver has given up once
  const { store, drop } = await testStore({ url: link.url, timeoutMs: scaledTimeout(15_000) })
  await store.ping()
  await drop()
  await link.stop()
})

it('a server that stays away is reported', async () => {
  const link = await linkTo(process.env.MONGODB_URL!)
  link.become('cut')
  await assert.rejects(testStore({ url: link.url, timeoutMs: 500 }), { code: 'service.unavailable' })
  await link.stop()
})
