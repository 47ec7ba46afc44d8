import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { generateOpenApi, readExamples } from '@rollcall/contract'
import { routes } from '../every-route.ts'

const run = promisify(execFile)
const TSC = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
const TEST = join(import.meta.dirname, '..')

/** A browser's project, as the SDK is used in it. */
const own = {
  files: ['snippets.mts'],
  include: [],
  compilerOptions: {
    lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: [],
    incremental: true,
    tsBuildInfoFile: './snippets.tsbuildinfo',
  },
}

type Operation = { 'x-codeSamples'?: { lang: string; source: string }[] }

test('the snippets of the reference compile against the SDK, and are commands of a shell', async () => {
  const { paths } = generateOpenApi(routes, 'test', readExamples())
  const samples = Object.values(paths).flatMap(path =>
    Object.values(path as Record<string, Operation>).flatMap(operation => operation['x-codeSamples'] ?? []),
  )
  const sourcesIn = (lang: string) => samples.filter(sample => sample.lang === lang).map(({ source }) => source)
  assert.ok(sourcesIn('TypeScript').length > 100)
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-snippets-'))
  try {
    const program = [
      `import { createClient } from '@rollcall/sdk'`,
      'const rollcall = createClient()',
      'declare const file: File',
      ...sourcesIn('TypeScript').map(source => `{\n${source}\n}`),
    ]
    await writeFile(join(folder, 'snippets.mts'), program.join('\n'))
    await symlink(join(TEST, 'node_modules'), join(folder, 'node_modules'))
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: join(TEST, '..', 'tsconfig.json'), ...own }),
    )
    await run(process.execPath, [TSC, '-p', folder]).catch(error => assert.fail(error.stdout))
    await run('bash', ['-n', '-c', sourcesIn('Shell').join('\n')])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
