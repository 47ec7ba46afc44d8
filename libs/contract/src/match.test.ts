import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { compileMatcher } from './match.ts'
import { loadRoot } from './root.ts'
import { compileRoutes } from './routes.ts'

const { routes } = compileRoutes(loadRoot())
const match = compileMatcher(routes)
const found = (verb: string, path: string) => {
  const matched = match(verb, path)
  return matched && [matched.route.method, matched.params]
}

describe('the matcher', () => {
  it('finds every route by its own path', () => {
    for (const { verb, path, method } of routes) {
      assert.equal(match(verb, path.replace(/:\w+/g, 'abc'))?.route.method, method)
    }
  })

  for (const [verb, path, expected] of [
    ['GET', '/api/audience/export', ['exportContacts', {}]],
    ['GET', '/api/audience/a1', ['getContact', { id: 'a1' }]],
    ['GET', '/api/audience/a%20b', ['getContact', { id: 'a b' }]],
    ['GET', '/api/audience/%E0%A4%A', ['getContact', { id: '%E0%A4%A' }]],
    ['GET', '/api/audience/a%2Fb', ['getContact', { id: 'a/b' }]],
    ['GET', '/api/audience/', ['listContacts', {}]],
    ['HEAD', '/api/audience', ['listContacts', {}]],
    ['GET', '/api/audience/import/j1/errors', ['downloadImportErrors', { jobId: 'j1' }]],
    ['GET', '/api/audience/import/status/errors', ['getImportStatus', { jobId: 'errors' }]],
    ['DELETE', '/api/audience', undefined],
    ['GET', '/api/audience//timeline', undefined],
    ['GET', '/api/audience/a1/b2', undefined],
    ['GET', '/api/__proto__', undefined],
    ['constructor', '/api/audience', undefined],
    ['GET', '', undefined],
    ['GET', '/', undefined],
  ] as const) {
    it(`${verb} ${path || '(nothing)'}`, () => assert.deepEqual(found(verb, path), expected))
  }

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (verb, path) => void match(verb, `/api/${path}`)))
  })
})
