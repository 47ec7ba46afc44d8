import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { it } from 'node:test'
import { within } from '@rollcall/runtime'
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
  for (const socket of broken) socket.destroy() // its event `close` comes later
  const answer = within(scaledTimeout(10_000), 'the command', async () => {
    await store.connection.db!.command({ ping: 1 }).catch(() => undefined)
  })
  await answer
  await within(scaledTimeout(10_000), 'the next command', () => store.ping())
  assert.ok(broken.length > 0)
  await drop()
})
