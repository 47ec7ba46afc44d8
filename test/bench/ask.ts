import { Agent, request } from 'node:http'
import type { Api } from '../api.ts'

/** A request of a benchmark. */
export type Asked = { method?: string; path: string; body?: object }

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** Sends a request from an address of its own, so that requests do not share limits. Returns the status of the answer. */
export function ask(api: Api, { method = 'GET', path, body }: Asked, index: number): Promise<number> {
  const text = body && JSON.stringify(body)
  const forwarded = `198.18.${(index >> 8) & 255}.${index & 255}`
  const headers = { ...api.headers, 'x-forwarded-for': forwarded, ...(text && { 'content-type': 'application/json' }) }
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, api.url), { agent, method, headers }, answer => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
    })
    asked.once('error', reject)
    asked.end(text)
  })
}
