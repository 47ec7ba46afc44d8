import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseDomainName } from './domain-name.ts'
import { newSelector } from './selector.ts'

describe('a domain name', () => {
  const right: [given: string, stored: string][] = [
    ['example.com', 'example.com'],
    [' Mail.Example.COM. ', 'mail.example.com'],
    ['bücher.de', 'xn--bcher-kva.de'],
    ['例え.jp', 'xn--r8jz45g.jp'],
    ['m．example。com', 'm.example.com'],
    ['a.example.co.uk', 'a.example.co.uk'],
    ['user.github.io', 'user.github.io'],
  ]
  for (const [given, stored] of right) {
    it(`${JSON.stringify(given)} is stored as ${stored}`, () => assert.equal(parseDomainName(given, 'domain'), stored))
  }

  const wrong = ['com', 'co.uk', '10.0.0.1', '0x7f.1', '[::1]', '_dmarc.example.com', 'a b.com', 'example.com:25']
  for (const given of [...wrong, 'x', '.', '..', 'example.com/', 'ex%41mple.com/x', 'm.example.test']) {
    it(`${given} is refused`, () =>
      assert.throws(() => parseDomainName(given, 'domain'), { code: 'request.invalid_field', path: 'domain' }))
  }

  it('is a name that DNS can query, or refused, for any input', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.domain(), fc.webUrl()), text => {
        try {
          assert.match(parseDomainName(text, 'domain'), /^([a-z0-9-]{1,63}\.)+[a-z0-9-]{2,63}$/)
        } catch (error) {
          assert.equal((error as { code?: string }).code, 'request.invalid_field')
        }
      }),
      { numRuns: 50 },
    )
  })
})

describe('a selector', () => {
  it('belongs to one organization and is new each time', () => {
    const [mine, theirs] = ['a'.repeat(24), 'b'.repeat(24)]
    const first = newSelector(mine, [])
    const second = newSelector(mine, [first])
    assert.match(first, /^rc1-[0-9a-f]{10}$/)
    assert.equal(second, first.replace('rc1', 'rc2'))
    assert.equal(newSelector(mine, [first, second, 'k1']), first.replace('rc1', 'rc3'))
    assert.notEqual(newSelector(theirs, []), first)
  })
})
