import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { SERVICES } from '@rollcall/local'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const digest = (digit: string) => `sha256:${digit.repeat(64)}`
const work = mkdtempSync(join(tmpdir(), 'release-'))
after(() => rmSync(work, { recursive: true }))

/** Replaces a program: records its arguments, then runs `script`. */
function standIn(program: string, script = ''): void {
  const file = join(work, program)
  writeFileSync(file, `#!/usr/bin/env bash\necho "${program} $*" >> "${work}/calls"\n${script}\n`)
  chmodSync(file, 0o755)
}

async function release(env: NodeJS.ProcessEnv = {}) {
  writeFileSync(join(work, 'calls'), '')
  const options = { env: { ...process.env, PATH: `${work}:${process.env.PATH}`, COSIGN_KEY: '', ...env } }
  const { stdout } = await run(join(root, '.ci', 'release'), ['registry.example.com/rollcall', '1.2.3'], options)
  return { stdout, calls: readFileSync(join(work, 'calls'), 'utf8').split('\n') }
}

describe('a release', () => {
  standIn('npm')
  standIn('node')
  standIn('cosign')
  standIn('git')

  it('has every image on a base that cannot change, with provenance and SBOM, and signs it by its digest', async () => {
    standIn(
      'docker',
      `case "$*" in
        *imagetools*) echo ${digest('b')} ;;
        *--metadata-file*) while [ "$1" != --metadata-file ]; do shift; done; echo '{ "containerimage.digest": "${digest('d')}" }' > "$2" ;;
      esac`,
    )
    const { stdout, calls } = await release({ NODE_IMAGE: '' })
    for (const service of SERVICES) {
      const image = `registry.example.com/rollcall/${service}`
      const build = calls.find(call => call.startsWith('docker buildx build') && call.includes(`SERVICE=${service} `))
      for (const part of [
        `NODE_IMAGE=node:24-slim@${digest('b')}`,
        '--provenance=mode=max',
        '--sbom=true',
        `--tag ${image}:1.2.3`,
        '--push',
        service === 'gateway' ? '--target gateway ' : '--target service ',
      ]) {
        assert.ok(build?.includes(part), `${part} is not in ${build}`)
      }
      assert.ok(calls.includes(`cosign sign --yes ${image}@${digest('d')}`))
      assert.ok(calls.some(call => call.startsWith('cosign attest') && call.endsWith(`${image}@${digest('d')}`)))
      assert.ok(stdout.includes(`services.${service}.image.digest=${digest('d')}`))
    }
    assert.deepEqual(calls.slice(-3), [
      'node libs/sdk/pack.ts 1.2.3',
      'npm publish ./libs/sdk/dist --access public',
      '',
    ])
  })

  it('is refused on a base by its tag', async () => {
    standIn('docker')
    await assert.rejects(release({ NODE_IMAGE: '' }), /has no digest: set NODE_IMAGE/)
    await assert.rejects(release({ NODE_IMAGE: 'node:24-slim' }), /has no digest/)
    assert.ok(!readFileSync(join(work, 'calls'), 'utf8').includes('build '))
  })

  it('is refused while its messages are not recorded', async () => {
    standIn('docker')
    standIn('git', 'exit 1')
    await assert.rejects(release(), /commit protos\/released\.binpb/)
    assert.ok(!readFileSync(join(work, 'calls'), 'utf8').includes('docker'))
    standIn('git')
  })
})

it('images take their base from the release, and name it nowhere else', () => {
  const dockerfile = readFileSync(join(root, 'deploy', 'docker', 'Dockerfile'), 'utf8')
  const stages = [...dockerfile.matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)]
  const names = new Set(stages.map(([, , name]) => name))
  const bases = stages.map(([, base]) => base).filter(base => !names.has(base))
  assert.deepEqual([...new Set(bases)], [`\${NODE_IMAGE}`])
})
