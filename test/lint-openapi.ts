import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateOpenApi, readExamples } from '@rollcall/contract'
import { routes } from './every-route.ts'

/** `npm run openapi`: holds the OpenAPI document against the rules of test/openapi/redocly.yaml and spectral.yaml. */

const LINTERS = join(import.meta.dirname, 'openapi')

const folder = mkdtempSync(join(tmpdir(), 'rollcall-openapi-'))
process.once('exit', () => rmSync(folder, { recursive: true }))
const document = join(folder, 'openapi.json')
writeFileSync(document, JSON.stringify(generateOpenApi(routes, '1.0.0', readExamples()), null, 2))

/** Runs a linter on the document. Warnings fail, too. */
function lint(program: string, ...options: string[]): boolean {
  const { status } = spawnSync(join(LINTERS, 'node_modules/.bin', program), ['lint', document, ...options], {
    cwd: LINTERS,
    stdio: 'inherit',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  })
  return status === 0
}

const results = [
  lint('redocly', '--config', 'redocly.yaml', '--max-problems', '20'),
  lint('spectral', '--ruleset', 'spectral.yaml', '--fail-severity', 'hint'),
]
process.exitCode = results.every(Boolean) ? 0 : 1
