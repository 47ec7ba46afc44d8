// The textbook path of P4 in two processes: Express 5, one unary call of grpc-js, the driver's `findOne`, JSON. No limits,
// no credential, no log. `node textbook.child.ts service MONGODB_URL DATABASE` or `… front PORT`; prints its port. And the
// textbook redirect of L9, `… redirect REDIS_URL`: Express 5 and one `GET` of Redis.
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { Client, credentials, Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js'
import express from 'express'
import { Redis } from 'ioredis'
import { MongoClient, ObjectId } from 'mongodb'

const PATH = '/textbook.Contacts/GetContact'
const asText = (text: string) => Buffer.from(text)
const fromText = (bytes: Buffer) => bytes.toString()

async function service(url: string, database: string): Promise<number> {
  const mongo = await new MongoClient(url).connect()
  const contacts = mongo.db(database).collection('contacts')
  const getContact = async ({ request }: ServerUnaryCall<string, string>, answer: sendUnaryData<string>) => {
    const contact = await contacts.findOne({ _id: new ObjectId(request) })
    answer(null, JSON.stringify(contact))
  }
  const method = {
    path: PATH,
    requestStream: false,
    responseStream: false,
    requestSerialize: asText,
    requestDeserialize: fromText,
    responseSerialize: asText,
    responseDeserialize: fromText,
  } as const
  const server = new Server()
  server.addService({ getContact: method }, { getContact })
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    )
  })
}

async function front(port: string): Promise<number> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
  const app = express()
  app.get('/api/audience/:id', (request, response) => {
    client.makeUnaryRequest(PATH, asText, fromText, request.params.id, (error, contact) => {
      if (error) response.status(500).end()
      else response.type('json').send(contact)
    })
  })
  return listen(app)
}

async function redirect(url: string): Promise<number> {
  const redis = new Redis(url)
  const app = express()
  app.get('/l/:slug', async (request, response) => {
    const target = await redis.get(request.params.slug)
    if (target === null) response.status(404).end()
    else response.redirect(target)
  })
  return listen(app)
}

async function listen(app: express.Express): Promise<number> {
  const server = app.listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  return (server.address() as AddressInfo).port
}

const roles = { service, front, redirect } as Record<string, (...args: string[]) => Promise<number>>
const [role = '', ...rest] = process.argv.slice(2)
assert.ok(Object.hasOwn(roles, role), 'a role is given')
console.log(await roles[role]!(...rest))
