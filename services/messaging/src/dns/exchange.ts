import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createConnection, isIPv6 } from 'node:net'
import { type DecodedPacket, decode, encode, type Packet, RECURSION_DESIRED } from 'dns-packet'
import { DnsFailure } from './failure.ts'
import { sameName } from './names.ts'
import type { Server } from './server-address.ts'

/** Supported record types. */
export type RecordType = 'TXT' | 'CNAME' | 'MX' | 'NS' | 'A' | 'AAAA'

/** A query to one server; `recursive` sets the RD flag. */
export type Question = { name: string; type: RecordType; recursive: boolean }

/** A server's reply. */
export type Reply = DecodedPacket & { rcode: string }

/** Small enough to avoid fragmentation. */
const UDP_PAYLOAD_BYTES = 1232
const MAX_ID = 65_536

/**
 * Sends a query over UDP, and over TCP if the reply is truncated. Ignores or rejects replies that do not match the
 * query.
 * @throws {DnsFailure} timeout when the signal aborts, unreachable, malformed
 */
export async function exchange(server: Server, question: Question, signal: AbortSignal): Promise<Reply> {
  const answer = await overUdp(server, question, signal, true)
  // Servers without EDNS support reply with FORMERR.
  const plain = answer.rcode === 'FORMERR' ? await overUdp(server, question, signal, false) : answer
  return plain.flag_tc ? overTcp(server, question, signal) : plain
}

function overUdp(server: Server, question: Question, signal: AbortSignal, edns: boolean): Promise<Reply> {
  const id = randomInt(MAX_ID)
  const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4')
  return settled(signal, (resolve, reject) => {
    socket.on('error', () => reject(new DnsFailure('unreachable')))
    socket.on('message', message => {
      if (carries(message, id)) resolve(() => read(message, question))
    })
    // An event, because the callback also runs when the server is unreachable.
    socket.once('connect', () => {
      if (!signal.aborted) socket.send(query(id, question, edns)) // else it is closed
    })
    // A connected socket accepts packets from this server only, and reports a closed port at once.
    socket.connect(server.port, server.address)
  }).finally(() => socket.close())
}

function overTcp(server: Server, question: Question, signal: AbortSignal): Promise<Reply> {
  const id = randomInt(MAX_ID)
  const socket = createConnection({ port: server.port, host: server.address })
  let received = Buffer.alloc(0)
  return settled(signal, (resolve, reject) => {
    socket.on('error', () => reject(new DnsFailure('unreachable')))
    socket.on('close', () => reject(new DnsFailure('malformed')))
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const message = wholeMessage(received)
      if (!message) return
      if (carries(message, id)) resolve(() => read(message, question))
      else reject(new DnsFailure('malformed'))
    })
    const message = query(id, question, true)
    const length = Buffer.alloc(2)
    length.writeUInt16BE(message.length)
    socket.write(Buffer.concat([length, message]))
  }).finally(() => socket.destroy())
}

type Settle = (resolve: (reply: () => Reply) => void, reject: (error: unknown) => void) => void

/** Runs until settled or aborted. Errors from parsing a reply reject the promise instead of being uncaught. */
function settled(signal: AbortSignal, run: Settle): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const expire = () => reject(new DnsFailure('timeout'))
  const settle = (reply: () => Reply) => {
    try {
      resolve(reply())
    } catch (error) {
      reject(error)
    }
  }
  if (signal.aborted) expire()
  else signal.addEventListener('abort', expire, { once: true })
  run(settle, reject)
  return promise.finally(() => signal.removeEventListener('abort', expire))
}

function query(id: number, { name, type, recursive }: Question, edns: boolean): Buffer {
  const packet: Packet = {
    type: 'query',
    id,
    flags: recursive ? RECURSION_DESIRED : 0,
    questions: [{ name, type, class: 'IN' }],
    ...(edns && { additionals: [{ type: 'OPT', name: '.', udpPayloadSize: UDP_PAYLOAD_BYTES } as never] }),
  }
  return encode(packet)
}

/** Returns the length-prefixed message of a stream once it is complete. */
function wholeMessage(bytes: Buffer): Buffer | undefined {
  if (bytes.length < 2) return undefined
  const end = 2 + bytes.readUInt16BE(0)
  return bytes.length < end ? undefined : bytes.subarray(2, end)
}

function carries(message: Buffer, id: number): boolean {
  return message.length >= 2 && message.readUInt16BE(0) === id
}

function read(message: Buffer, { name, type }: Question): Reply {
  const reply = decoded(message)
  const [asked] = reply.questions ?? []
  // A server that could not parse the query may omit it.
  const isEcho = asked ? sameName(asked.name, name) && asked.type === type : reply.rcode !== 'NOERROR'
  if (reply.type !== 'response' || !isEcho) throw new DnsFailure('malformed')
  return reply
}

function decoded(message: Buffer): Reply {
  try {
    return decode(message) as Reply
  } catch {
    throw new DnsFailure('malformed')
  }
}
