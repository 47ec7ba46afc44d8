import type { Socket } from 'node:net'
import { type Document, deserialize, serialize } from 'bson'

/** A command of MongoDB's wire protocol: an OP_MSG from a client. */
export type Command = {
  /** The whole message, as the server gets it. */
  message: Buffer
  requestId: number
  name: string
  database: string
  collection: string
  body: Document
  /** Whether the client expects no reply. */
  isSilent: boolean
  /** The documents of `documents`, `updates` or `deletes`; they are decoded at the first call. */
  statements(): Document[]
}

const HEADER_BYTES = 16
const OP_REPLY = 1
const OP_QUERY = 2004
const OP_MSG = 2013
const REPLY_BODY = HEADER_BYTES + 20
const FLAGS_END = HEADER_BYTES + 4
const MORE_TO_COME = 2
const STATEMENTS = ['documents', 'updates', 'deletes']

/** Calls `receive` with each message of the socket. */
export function onMessages(socket: Socket, receive: (message: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (rest.length >= HEADER_BYTES && rest.length >= rest.readInt32LE(0)) {
      const size = rest.readInt32LE(0)
      receive(rest.subarray(0, size))
      rest = rest.subarray(size)
    }
  })
}

/** Returns the command of a message; undefined if it is no OP_MSG. */
export function commandOf(message: Buffer): Command | undefined {
  if (message.readInt32LE(12) !== OP_MSG) return undefined
  const { body, sequences } = sectionsOf(message)
  const name = Object.keys(body)[0]!
  const target = name === 'getMore' ? body.collection : body[name]
  return {
    message,
    requestId: message.readInt32LE(4),
    name,
    database: body.$db,
    collection: typeof target === 'string' ? target : '',
    body,
    isSilent: (message.readInt32LE(HEADER_BYTES) & MORE_TO_COME) !== 0,
    statements: () =>
      STATEMENTS.flatMap(field => body[field] ?? sequences.get(field)?.map(bytes => deserialize(bytes)) ?? []),
  }
}

/** Returns the application name of a handshake, an OP_MSG or an OP_QUERY; undefined if the message is none. */
export function applicationOf(message: Buffer): string | undefined {
  const hello = message.readInt32LE(12) === OP_QUERY ? queryOf(message) : commandOf(message)?.body
  return hello?.client?.application?.name
}

/** Reads the document of an OP_QUERY. It follows the collection's name and two numbers. */
function queryOf(message: Buffer): Document {
  return deserialize(message.subarray(message.indexOf(0, FLAGS_END) + 1 + 8))
}

/** Returns the document of a reply, an OP_MSG or an OP_REPLY. */
export function replyOf(message: Buffer): Document {
  const isReply = message.readInt32LE(12) === OP_REPLY
  return isReply ? deserialize(message.subarray(REPLY_BODY)) : sectionsOf(message).body
}

/** Returns an OP_MSG with the document as its body. */
export function messageOf(document: Document, { requestId = 0, responseTo = 0 } = {}): Buffer {
  const body = serialize(document, { ignoreUndefined: true })
  const head = Buffer.alloc(FLAGS_END + 1)
  head.writeInt32LE(head.length + body.length, 0)
  head.writeInt32LE(requestId, 4)
  head.writeInt32LE(responseTo, 8)
  head.writeInt32LE(OP_MSG, 12)
  return Buffer.concat([head, body])
}

/** Returns the reply with a changed document. */
export function withReply(message: Buffer, change: (reply: Document) => Document): Buffer {
  const start = message.readInt32LE(12) === OP_REPLY ? REPLY_BODY : FLAGS_END + 1
  return withDocument(message, start, change)
}

/** Returns the command's message with a changed body; its statements stay as they are. */
export function withBody({ message }: Command, change: (body: Document) => Document): Buffer {
  return withDocument(message, FLAGS_END + 1, change)
}

function withDocument(message: Buffer, start: number, change: (document: Document) => Document): Buffer {
  const end = start + message.readInt32LE(start)
  // Values are not promoted, so that their types stay as they are.
  const document = deserialize(message.subarray(start, end), { promoteValues: false, bsonRegExp: true })
  const body = serialize(change(document), { ignoreUndefined: true })
  const changed = Buffer.concat([message.subarray(0, start), body, message.subarray(end)])
  changed.writeInt32LE(changed.length, 0)
  return changed
}

/** Reads the sections of an OP_MSG: kind 0 is the body, kind 1 a sequence of documents. */
function sectionsOf(message: Buffer): { body: Document; sequences: Map<string, Buffer[]> } {
  const sequences = new Map<string, Buffer[]>()
  let body: Document = {}
  for (let at = FLAGS_END; at < message.length; ) {
    const start = at + 1
    const end = start + message.readInt32LE(start)
    if (message[at] === 0) body = deserialize(message.subarray(start, end))
    else {
      const nameEnd = message.indexOf(0, start + 4)
      sequences.set(message.toString('utf8', start + 4, nameEnd), documentsOf(message.subarray(nameEnd + 1, end)))
    }
    at = end
  }
  return { body, sequences }
}

function documentsOf(bytes: Buffer): Buffer[] {
  const documents: Buffer[] = []
  for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at)) {
    documents.push(bytes.subarray(at, at + bytes.readInt32LE(at)))
  }
  return documents
}
