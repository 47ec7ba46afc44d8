import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { createConnection, isIPv6 } from 'node:net'
import { type DecodedPacket, decode, encode, type Packet, RECURSION_DESIRED } from 'dns-packet'
import { DnsFailure } from './failure.ts'
import { sameName } from './names.ts'
import type { Server } from './server-address.ts'

/** The types of records that are asked for. */
export type RecordType = 'TXT' | 'CNAME' | 'MX' | 'NS' | 'A' | 'AAAA'

/** A question to one server. `recursive` asks it to find out where it does not know. */
export type Question = { name: string; type: RecordType; recursive: boolean }

/** What a server sent back. */
export type Reply = DecodedPacket & { rcode: string }

/** Small enough not to be cut into fragments on any path. */
const UDP_PAYLOAD_BYTES = 1232
const MAX_ID = 65_536

/**
 * Puts a question to a server over UDP, and over TCP where the answer does not fit. Whatever comes back that is not the
 * answer to this very question is ignored or refused.
 * @throws {DnsFailure} timeout once the signal fires, unreachable, malformed
 */
export async function exchange(server: Server, question: Question, signal: AbortSignal): Promise<Reply> {
  const answer = await overUdp(server, question, signal, true)
  // Servers that have never heard of EDNS say so in this way.
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
    // An event, not a callback: that one is called as well, unconnected, where there is no way to the server.
    socket.once('connect', () => {
      if (!signal.aborted) socket.send(query(id, question, edns)) // else it is closed
    })
    // Connected, it takes packets of this server only, and hears at once that nobody listens.
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

/** Runs until it is settled or the signal fires. What reading a reply throws is how it ends, not an exception of nobody. */
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

/** The message that a stream's bytes hold behind its length, once they are all there. */
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
  // A server that could not read the question need not repeat it.
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
