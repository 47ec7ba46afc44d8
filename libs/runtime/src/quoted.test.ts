import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { quoted } from './quoted.ts'

/** Text that mail clients turn into links: web addresses with and without a scheme, and email addresses. */
const LINKABLE = /[a-z]+:\/\/|[\p{L}\d-]+[.\u3002\uff0e\uff61][\p{L}\d]|\S@\S|mailto:\S/iu

describe('quoted', () => {
  for (const text of [
    'https://evil.example/path?a=b',
    'www.evil.example',
    'evil.example',
    'Pay at evil。example now',
    'mailto:ceo@evil.example',
    'http://127.0.0.1:8080',
    'ftp://[::1]/',
  ]) {
    it(`leaves no link in ${text}`, () => {
      assert.match(text, LINKABLE)
      assert.doesNotMatch(quoted(text), LINKABLE)
    })
  }

  it('is one line, whose quotes cannot be closed from inside', () => {
    const text = 'Jo”\r\n\r\nYour account is suspended\u2028\u202etxet “now'
    assert.equal(quoted(text), "“Jo' Your account is suspended txet 'now”")
  })

  it('leaves names as they are', () => {
    for (const name of ['Ada', 'J. R. Smith', "Siobhán O'Neill", '山田 太郎', 'Sales: north']) {
      assert.equal(quoted(name), `“${name}”`)
    }
  })
})
