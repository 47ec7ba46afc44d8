// Builds the package that npm gets, into libs/sdk/dist: `node libs/sdk/pack.ts 1.2.3`. Default: the version of the
// manifest. The repository itself runs the sources.
import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const HERE = import.meta.dirname
const TARGET = join(HERE, 'dist')
const TSC = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')

rmSync(TARGET, { recursive: true, force: true })
execFileSync(process.execPath, [TSC, '-p', join(HERE, 'tsconfig.pack.json')], { stdio: 'inherit' })
const { name, version, description, license, type } = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8'))
const manifest = {
  name,
  version: process.argv[2] ?? version,
  description,
  license,
  type,
  engines: { node: '>=20' },
  sideEffects: false,
  exports: {
    '.': { types: './index.d.ts', default: './index.js' },
    './error-texts': { types: './gen/error-texts.d.ts', default: './gen/error-texts.js' },
    './webhooks': { types: './webhooks.d.ts', default: './webhooks.js' },
  },
}
writeFileSync(join(TARGET, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
copyFileSync(join(HERE, 'README.md'), join(TARGET, 'README.md'))
copyFileSync(join(HERE, '../../LICENSE'), join(TARGET, 'LICENSE'))
