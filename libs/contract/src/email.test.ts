import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import validator from 'validator'
import { emailKeyOf, emailOf, isEmail, isPlainEmail } from './email.ts'

describe('emailOf', () => {
  const taken: [text: string, address: string, key: string][] = [
    [' A.B+c@Example.com ', 'A.B+c@Example.com', 'a.b+c@example.com'],
    ["o'neil@example.com", "o'neil@example.com", "o'neil@example.com"],
    ['Ünal@example.com', 'Ünal@example.com', 'ünal@example.com'],
    ['x@Bücher.example', 'x@xn--bcher-kva.example', 'x@xn--bcher-kva.example'],
    ['x@bücher。example', 'x@xn--bcher-kva.example', 'x@xn--bcher-kva.example'],
    ['x@ｅxample.com', 'x@example.com', 'x@example.com'],
  ]
  for (const [text, address, key] of taken) {
    it(`takes ${JSON.stringify(text)}`, () => assert.deepEqual(emailOf(text), { address, key }))
  }

  const refused: Record<string, string> = {
    'no local part': '@example.com',
    'no domain': 'a',
    'a domain of one label': 'a@b',
    'a quoted local part': '"a b"@example.com',
    'a second address in quotes': '"evil@e.com x"@x.com',
    'a K sign': '\u212Aevin@example.com',
    'a long s': 'jame\u017F@example.com',
    'a ligature': 'o\uFB03ce@example.com',
    'a letter in two characters': 'u\u0308nal@example.com',
    'a line break': 'a\n@example.com',
    'a zero-width space': 'a\u200Bb@example.com',
    'an override of direction': 'a\u202Eb@example.com',
    'a no-break space': 'a\u00A0b@example.com',
    'an international domain with a path': 'a@é.com/x',
    'a domain that is percent-encoded': 'a@é%2ecom.example',
    'a domain with a full-width slash': 'a@é.com／x',
    'a port': 'a@é.com:25',
    'an IP address': 'a@127.0.0.1',
    'half a character': 'a\uD800@example.com',
    'a local part of 65 characters': `${'a'.repeat(65)}@example.com`,
    'more than 254 characters': `a@${'é'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example.com`,
  }
  for (const [what, text] of Object.entries(refused)) {
    it(`refuses ${what}`, () => assert.equal(emailOf(text), undefined))
  }

  it('takes what it keeps, and keeps it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.domain(), (local, domain) => {
        const email = emailOf(`${local}@${domain}`)
        if (email) assert.deepEqual(emailOf(email.address), email)
      }),
    )
  })

  it('gives addresses of different local parts different keys, except for case', () => {
    for (let code = 0x80; code < 0x3000; code++) {
      const letter = String.fromCodePoint(code)
      const email = emailOf(`a${letter}b@example.com`)
      if (email) assert.match(email.key, /[\u0080-\uffff]/, `U+${code.toString(16)}`)
    }
  })
})

describe('isEmail', () => {
  it('takes no white space around an address', () => {
    assert.deepEqual(['a@example.com', ' a@example.com', 'a@example.com\n'].map(isEmail), [true, false, false])
  })
})

describe('emailKeyOf', () => {
  it('answers a key for what is no address', () => {
    assert.equal(emailKeyOf(' "A b"@Example.com'), '"a b"@example.com')
  })
})

describe('isPlainEmail', () => {
  const label = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'Z', '0'), minLength: 1, maxLength: 66 }),
    fc.string({ unit: fc.constantFrom('a', 'b', 'Z', '0', '-', '_', '+', 'é'), maxLength: 5 }),
  )
  const dotted = fc.array(label, { minLength: 1, maxLength: 4 }).map(labels => labels.join('.'))
  const email = fc
    .tuple(dotted, dotted, fc.constantFrom('', '.com', '.x', '.c0m'))
    .map(([a, b, end]) => `${a}@${b}${end}`)

  it('never takes what the validator refuses', () => {
    let plain = 0
    fc.assert(
      fc.property(email, text => {
        if (!isPlainEmail(text)) return
        plain++
        assert.equal(validator.isEmail(text), true, text)
      }),
      { numRuns: 3_000 },
    )
    assert.ok(plain > 20, `only ${plain} of them were plain`)
  })

  it('takes what most addresses are like, and leaves the rest to the full check', () => {
    for (const text of ['a@example.com', 'First.Last+tag@mail-1.example.co.uk']) assert.equal(isPlainEmail(text), true)
    for (const text of [
      "o'neil@example.com",
      'a@b',
      'a..b@example.com',
      `${'a'.repeat(65)}@example.com`,
      'ü@example.com',
    ]) {
      assert.equal(isPlainEmail(text), false, text)
    }
  })
})
