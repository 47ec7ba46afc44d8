import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readCommand } from './options.ts'
import { UsageProblem } from './problem.ts'

const env = { ROLLCALL_TOKEN: 'secret' }

describe('the command line of imports', () => {
  it('says all that an import can be started with', () => {
    const args = ['people.csv', '--url', 'https://rollcall.test/', '--map', 'E-mail=email', '--map', 'a=b=name']
    const more = ['--strategy', 'skip', '--empty', 'clear', '--tags', 'a,b', '--tags', 'c', '--list', 'x', '--dry-run']
    assert.deepEqual(readCommand([...args, ...more, '--yes'], env), {
      url: 'https://rollcall.test',
      token: 'secret',
      task: {
        kind: 'import',
        file: 'people.csv',
        mapping: { 'E-mail': 'email', 'a=b': 'name' },
        settings: {
          duplicateStrategy: 'skip',
          emptyValues: 'clear',
          tags: ['a', 'b', 'c'],
          listIds: ['x'],
          dryRun: true,
        },
        errorsFile: 'people.errors.csv',
        confirmed: true,
      },
    })
  })

  it('takes an import back by its job', () => {
    assert.deepEqual(readCommand(['--undo', 'f00'], { ...env, ROLLCALL_URL: 'http://there:1' }), {
      url: 'http://there:1',
      token: 'secret',
      task: { kind: 'undo', jobId: 'f00' },
    })
  })

  it('has no command for --help', () => assert.equal(readCommand(['--help'], {}), null))

  for (const [what, args, environment, message] of [
    ['without a file', [], env, /file is missing/],
    ['with two files', ['a.csv', 'b.csv'], env, /unexpected argument: b.csv/],
    ['without a token', ['a.csv'], {}, /ROLLCALL_TOKEN/],
    ['with an option it does not know', ['a.csv', '--nope'], env, /--nope/],
    ['with a strategy it does not know', ['a.csv', '--strategy', 'merge'], env, /update or skip/],
    ['with an invalid mapping', ['a.csv', '--map', 'email'], env, /HEADER=TARGET/],
    ['with an invalid URL', ['a.csv', '--url', 'there'], env, /not a URL/],
    ['with a file beside --undo', ['a.csv', '--undo', 'x'], env, /no file/],
  ] as const) {
    it(`is refused ${what}`, () => {
      assert.throws(
        () => readCommand(args, environment),
        error => error instanceof UsageProblem && message.test(error.message),
      )
    })
  }
})
