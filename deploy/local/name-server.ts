import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet } from 'dns-packet'
import { LOCALHOST } from './ports.ts'

/** The zone that the local name server has; example.com is nobody's domain. */
export const LOCAL_ZONE = 'rollcall.example.com'

/** A running name server. */
export type NameServer = {
  /** The zone and the server's address, as DNS_ZONES names them. */
  zone: string
  /** The zone file, which is read anew for each query. */
  file: string
  stop(): Promise<void>
}

const NAME_ERROR = 3
const TTL_SECONDS = 0
const HEAD = `; Records of ${LOCAL_ZONE}, which npm start serves to the checks of sending domains. Domains below it can be
; verified: paste the records that the console shows. Each change counts from the next check on.
`
const LINE = /^(\S+)\s+(?:\d+\s+)?(?:IN\s+)?(TXT|CNAME|MX|A|AAAA|NS)\s+(.+)$/i
/** Strings of a TXT record, and the comment that may end a line. */
const STRING = /"((?:[^"\\]|\\.)*)"/g
const COMMENT = /^((?:"(?:[^"\\]|\\.)*"|[^";])*);.*$/

/** Starts the name server of LOCAL_ZONE with the zone file of a folder, over UDP on a free port. */
export async function startNameServer(folder: string): Promise<NameServer> {
  const file = zoneFileIn(folder)
  const socket = createSocket('udp4')
  socket.on('message', (message, { port, address }) => {
    try {
      socket.send(reply(decode(message), parseZone(readFileSync(file, 'utf8'))), port, address)
    } catch {} // not a query, or no zone file: no answer
  })
  socket.bind(0, LOCALHOST)
  await once(socket, 'listening')
  return {
    zone: `${LOCAL_ZONE}=${LOCALHOST}:${socket.address().port}`,
    file,
    stop: async () => void socket.close(),
  }
}

/** Adds records to the zone file of a folder. */
export function publishLocally(
  folder: string,
  records: readonly { name: string; type: string; value: string; priority?: number | undefined }[],
): void {
  const lines = records.map(({ name, type, value, priority = 10 }) => {
    const strings = (value.match(/.{1,255}/g) ?? []).map(part => `"${part}"`).join(' ')
    const data = { TXT: strings, MX: `${priority} ${value}.` }[type] ?? `${value}.`
    return `${name}.\tIN\t${type}\t${data}\n`
  })
  appendFileSync(zoneFileIn(folder), lines.join(''))
}

function zoneFileIn(folder: string): string {
  const file = join(folder, `${LOCAL_ZONE}.zone`)
  if (!existsSync(file)) writeFileSync(file, HEAD)
  return file
}

/** Returns the records of a zone file (RFC 1035 §5), one a line; lines that are none are left out. */
export function parseZone(text: string): Answer[] {
  return text.split(/\r?\n/).flatMap(line => {
    const [, owner = '', type = '', data = ''] = LINE.exec(line.replace(COMMENT, '$1').trim()) ?? []
    if (!owner) return []
    const kind = type.toUpperCase()
    return [{ name: absolute(owner), type: kind, data: dataOf(kind, data), class: 'IN', ttl: TTL_SECONDS } as Answer]
  })
}

function dataOf(type: string, text: string): unknown {
  if (type === 'TXT') {
    const strings = [...text.matchAll(STRING)].map(([, part = '']) => part.replace(/\\(.)/g, '$1'))
    return strings.length > 0 ? strings : [text]
  }
  if (type !== 'MX') return /^A/.test(type) ? text : absolute(text)
  const [priority, exchange = ''] = text.split(/\s+/)
  return { preference: Number(priority), exchange: absolute(exchange) }
}

function absolute(name: string): string {
  if (name === '@') return LOCAL_ZONE
  return name.endsWith('.') ? name.slice(0, -1).toLowerCase() : `${name.toLowerCase()}.${LOCAL_ZONE}`
}

function reply(query: Packet, zone: readonly Answer[]): Buffer {
  const [question] = query.questions ?? []
  const name = question?.name.toLowerCase().replace(/\.$/, '') ?? ''
  const isThere = name === LOCAL_ZONE || zone.some(record => `.${record.name}`.endsWith(`.${name}`))
  const answers = zone.filter(
    record => record.name === name && (record.type === question?.type || record.type === 'CNAME'),
  )
  return encode({
    type: 'response',
    ...(query.id !== undefined && { id: query.id }),
    flags: AUTHORITATIVE_ANSWER | (isThere ? 0 : NAME_ERROR),
    questions: query.questions ?? [],
    answers,
  })
}
