import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server as TcpServer } from 'node:net'
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet, TRUNCATED_RESPONSE } from 'dns-packet'

/** A record of a zone. The data of a TXT record is one string or a list of strings. */
export type ZoneRecord = { name: string; type: string; data: unknown; ttl?: number }

/** A server's unusual behaviour: no reply, a failure, or these bytes. */
export type Behaviour = 'silence' | 'SERVFAIL' | 'REFUSED' | 'FORMERR' | Buffer
/** Chooses the behaviour for a query; undefined is a normal reply. */
export type Behave = (question: {
  name: string
  type: string
  server: string
  tcp: boolean
  id: number
  edns: boolean
}) => Behaviour | undefined

/** Name servers on loopback addresses that share a port, and a resolver for all their zones. */
export type TestDns = {
  port: number
  /** Address of the resolver: 127.0.0.1. */
  resolver: { address: string; port: number }
  /** Serves a zone from these addresses (127.0.0.x), named ns1, ns2 … of the zone. */
  zone(name: string, addresses: string[], records?: ZoneRecord[]): void
  /** Replaces the records of a zone, except its SOA, NS and address records. */
  publish(zone: string, records: ZoneRecord[]): void
  /** Sets the resolver's cached records of a name and type; it answers only with these. */
  keep(name: string, type: string, ttl: number, records: ZoneRecord[]): void
  /** Sets the behaviour of the servers; without an argument they reply normally. */
  behave(behave?: Behave): void
  /** Queries so far, as `server name type`. */
  asked: string[]
  /** Removes zones, cached records, behaviour and queries. */
  reset(): void
  stop(): Promise<void>
}

type Zone = { name: string; addresses: string[]; base: ZoneRecord[]; records: ZoneRecord[] }
type Result = {
  rcode: number
  answers: ZoneRecord[]
  authorities: ZoneRecord[]
  additionals: ZoneRecord[]
  aa: boolean
}

const RESOLVER = '127.0.0.1'
const SERVERS = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6']
const RCODES = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 }
const UDP_BYTES = 1232

/** Starts the servers without any zone. */
export async function startTestDns(): Promise<TestDns> {
  const zones = new Map<string, Zone>()
  const kept = new Map<string, { ttl: number; records: ZoneRecord[] }>()
  const asked: string[] = []
  let behaviour: Behave | undefined

  const respond = (server: string, tcp: boolean, message: Buffer): Buffer | undefined => {
    const query = decode(message)
    const question = query.questions?.[0]
    if (!question) return undefined
    const name = canonical(question.name)
    const { type } = question
    asked.push(`${server} ${name} ${type}`)
    const edns = (query.additionals ?? []).some(additional => additional.type === 'OPT')
    const special = behaviour?.({ name, type, server, tcp, id: query.id ?? 0, edns })
    if (special === 'silence') return undefined
    if (Buffer.isBuffer(special)) return special
    const result = special
      ? { ...empty(RCODES[special]), aa: false }
      : server === RESOLVER
        ? resolve(zones, kept, name, type)
        : serve(zones, server, name, type)
    const reply = encoded(query, result)
    if (tcp || reply.length <= UDP_BYTES) return reply
    return encoded(query, { ...result, answers: [], authorities: [], additionals: [] }, TRUNCATED_RESPONSE)
  }

  const { port, stop } = await listen(respond)
  return {
    port,
    resolver: { address: RESOLVER, port },
    zone(name, addresses, records = []) {
      const hosts = addresses.map((_address, index) => `ns${index + 1}.${name}`)
      const base = [
        { name, type: 'SOA', data: soaOf(name) },
        ...hosts.map(host => ({ name, type: 'NS', data: host })),
        ...hosts.map((host, index) => ({ name: host, type: 'A', data: addresses[index] })),
      ]
      zones.set(name, { name, addresses, base, records })
    },
    publish(name, records) {
      zones.get(name)!.records = records
    },
    keep: (name, type, ttl, records) => void kept.set(`${name} ${type}`, { ttl, records }),
    behave(behave) {
      behaviour = behave
    },
    asked,
    reset() {
      zones.clear()
      kept.clear()
      asked.length = 0
      behaviour = undefined
    },
    stop,
  }
}

const soaOf = (zone: string) => ({
  mname: `ns1.${zone}`,
  rname: `hostmaster.${zone}`,
  serial: 1,
  refresh: 3600,
  retry: 600,
  expire: 86400,
  minimum: 300,
})

const empty = (rcode: number): Result => ({ rcode, answers: [], authorities: [], additionals: [], aa: true })

/** Returns the most specific zone of a name. */
function zoneFor(zones: Iterable<Zone>, name: string): Zone | undefined {
  return [...zones].filter(zone => isWithin(name, zone.name)).sort((a, b) => b.name.length - a.name.length)[0]
}

/** Returns the answer of an authoritative server. */
function serve(zones: Map<string, Zone>, server: string, name: string, type: string): Result {
  const own = [...zones.values()].filter(zone => zone.addresses.includes(server))
  const zone = zoneFor(own, name)
  return zone ? lookUp(zone, name, type) : { ...empty(RCODES.REFUSED), aa: false }
}

function lookUp(zone: Zone, name: string, type: string): Result {
  const all = [...zone.base, ...zone.records]
  const cut = all.find(record => record.type === 'NS' && record.name !== zone.name && isWithin(name, record.name))
  if (cut) {
    const servers = all.filter(record => record.type === 'NS' && record.name === cut.name)
    const glue = all.filter(record => record.type === 'A' && servers.some(({ data }) => data === record.name))
    return { ...empty(RCODES.NOERROR), authorities: servers, additionals: glue, aa: false }
  }
  const here = all.filter(record => canonical(record.name) === name)
  const exists = all.some(record => isWithin(canonical(record.name), name))
  const source = exists ? here : wildcardOf(all, zone.name, name)
  const answers = source.filter(record => record.type === type || (record.type === 'CNAME' && type !== 'CNAME'))
  if (answers.length > 0) return { ...empty(RCODES.NOERROR), answers }
  const soa = zone.base.filter(record => record.type === 'SOA').map(record => ({ ...record, ttl: 300 }))
  return { ...empty(exists || source.length > 0 ? RCODES.NOERROR : RCODES.NXDOMAIN), authorities: soa }
}

/** Returns the records of the wildcard below the closest existing name, with the queried name (RFC 4592). */
function wildcardOf(all: readonly ZoneRecord[], apex: string, name: string): ZoneRecord[] {
  for (const parent of upwards(name).slice(1)) {
    if (!isWithin(parent, apex)) return []
    const isThere = all.some(record => record.name !== `*.${parent}` && isWithin(record.name, parent))
    const wild = all.filter(record => record.name === `*.${parent}`)
    if (wild.length > 0) return wild.map(record => ({ ...record, name }))
    if (isThere) return []
  }
  return []
}

/** Returns the answer of the resolver: from its cache, else from the zones, including followed aliases. */
function resolve(
  zones: Map<string, Zone>,
  kept: Map<string, { ttl: number; records: ZoneRecord[] }>,
  name: string,
  type: string,
): Result {
  const old = kept.get(`${name} ${type}`)
  if (old) {
    const answers = old.records.map(record => ({ ...record, ttl: old.ttl }))
    const soa = { name, type: 'SOA', data: { ...soaOf(name), minimum: old.ttl }, ttl: old.ttl }
    if (answers.length > 0) return { ...empty(RCODES.NOERROR), answers, aa: false }
    return { ...empty(RCODES.NXDOMAIN), authorities: [soa], aa: false }
  }
  const zone = zoneFor(zones.values(), name)
  if (!zone) return { ...empty(RCODES.NXDOMAIN), aa: false }
  return { ...lookUp({ ...zone, records: withoutCuts(zone) }, name, type), aa: false }
}

/** Returns the records without zone cuts: names below a cut are looked up in their own zone. */
function withoutCuts(zone: Zone): ZoneRecord[] {
  return zone.records.filter(record => record.type !== 'NS' || record.name === zone.name)
}

function encoded(query: Packet, { rcode, aa, ...sections }: Result, flags = 0): Buffer {
  const answers = (records: ZoneRecord[]) =>
    records.map(record => ({ ttl: 300, ...record, class: 'IN' })) as unknown as Answer[]
  return encode({
    type: 'response',
    id: query.id,
    flags: rcode | flags | (aa ? AUTHORITATIVE_ANSWER : 0),
    questions: query.questions,
    answers: answers(sections.answers),
    authorities: answers(sections.authorities),
    additionals: answers(sections.additionals),
  })
}

type Respond = (server: string, tcp: boolean, message: Buffer) => Buffer | undefined

async function listen(respond: Respond): Promise<{ port: number; stop(): Promise<void> }> {
  for (let attempt = 0; ; attempt++) {
    const opened: (UdpSocket | TcpServer)[] = []
    const stop = async () => {
      for (const socket of opened) socket.close()
    }
    try {
      let port = 0
      for (const address of SERVERS) {
        const tcp = overTcp(respond, address).listen(port, address)
        await once(tcp, 'listening')
        opened.push(tcp)
        port = (tcp.address() as AddressInfo).port
        const udp = overUdp(respond, address)
        udp.bind(port, address)
        await once(udp, 'listening')
        opened.push(udp)
      }
      return { port, stop }
    } catch (error) {
      await stop()
      if (attempt === 20) throw error
    }
  }
}

function overUdp(respond: Respond, address: string): UdpSocket {
  const socket = createSocket('udp4')
  socket.on('message', (message, from) => {
    const reply = respond(address, false, message)
    if (reply) socket.send(reply, from.port, from.address)
  })
  return socket
}

function overTcp(respond: Respond, address: string): TcpServer {
  return createServer(socket => {
    let received = Buffer.alloc(0)
    socket.on('error', () => socket.destroy())
    socket.on('data', chunk => {
      received = Buffer.concat([received, chunk as Buffer])
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return
      const reply = respond(address, true, received.subarray(2))
      if (!reply) return
      const length = Buffer.alloc(2)
      length.writeUInt16BE(reply.length)
      socket.end(Buffer.concat([length, reply]))
    })
  })
}

/** Returns a name for comparison: lower case, without the final dot. */
function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

/** Whether a name is the zone's own name or below it. Both canonical. */
function isWithin(name: string, zone: string): boolean {
  return name === zone || zone === '' || name.endsWith(`.${zone}`)
}

/** Returns the name and its parents, nearest first. */
function upwards(name: string): string[] {
  const labels = name.split('.')
  return labels.map((_label, index) => labels.slice(index).join('.'))
}
