import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Cache, cached, install, Problem, which } from '@rollcall/local'

const run = promisify(execFile)
const here = join(import.meta.dirname, 'tools')
const oldestGo = [1, 26] as const

/** Versions of Helm that the chart is for. */
export const HELMS = ['helm-v4', 'helm-v3'] as const

/** The programs that check the chart without a cluster. Package managers build and fetch them. */
export type Tools = {
  helm: Readonly<Record<(typeof HELMS)[number], string>>
  helmUnittest: string
  /** Where Python finds kubernetes-validate. */
  pythonPath: string
  /** Folder of the definitions of custom resources that the chart makes. */
  definitions: string
}

const GO_PROGRAMS = {
  'helm-v4': 'helm.sh/helm/v4/cmd/helm',
  'helm-v3': 'helm.sh/helm/v3/cmd/helm',
  'helm-unittest': 'github.com/helm-unittest/helm-unittest/cmd/helm-unittest',
}

const DEFINITIONS: Record<string, string> = {
  'github.com/cert-manager/cert-manager@v1.19.1': 'deploy/crds/cert-manager.io_certificates.yaml',
  'sigs.k8s.io/gateway-api@v1.6.0': 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml',
  'github.com/prometheus-operator/prometheus-operator@v0.85.0#servicemonitors':
    'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
  'github.com/prometheus-operator/prometheus-operator@v0.85.0#prometheusrules':
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
}

/** The cache that a test run and a set-up share. */
export function toolsCache(log: (line: string) => void = () => {}, signal = new AbortController().signal): Cache {
  return { dir: process.env.CACHE_DIR ?? join(import.meta.dirname, '..', '..', '.cache'), log, signal }
}

/**
 * Returns the tools, from the cache or installed into it. The first time takes some minutes, because Go compiles them.
 * Returns what is missing on this machine if they cannot be installed.
 */
export async function obtainTools(cache: Cache): Promise<Tools | { missing: string }> {
  const go = await which('go')
  if (!go || !(await isRecent(go))) return { missing: `Go ${oldestGo.join('.')} or newer, which builds helm` }
  const python = await which('python3')
  if (!python) return { missing: 'Python 3 with pip, which runs kubernetes-validate' }
  const programs = await cached(cache, await keyed('chart-tools', 'go.mod', 'go.sum'), dir => build(cache, go, dir))
  const version = (await run(python, ['--version'])).stdout.trim().replace(' ', '-').toLowerCase()
  const pythonPath = await cached(cache, await keyed(`chart-${version}`, 'requirements.txt'), dir =>
    pipInstall(cache, python, dir),
  )
  const definitions = await cached(cache, `chart-definitions-${hashOf(JSON.stringify(DEFINITIONS))}`, dir =>
    fetchDefinitions(go, dir),
  )
  return {
    helm: { 'helm-v4': join(programs, 'helm-v4'), 'helm-v3': join(programs, 'helm-v3') },
    helmUnittest: join(programs, 'helm-unittest'),
    pythonPath,
    definitions,
  }
}

async function isRecent(go: string): Promise<boolean> {
  const [, major, minor] = /go(\d+)\.(\d+)/.exec((await run(go, ['version'])).stdout) ?? []
  return Number(major) > oldestGo[0] || (Number(major) === oldestGo[0] && Number(minor) >= oldestGo[1])
}

async function keyed(name: string, ...files: string[]): Promise<string> {
  const texts = await Promise.all(files.map(file => readFile(join(here, file), 'utf8')))
  return `${name}-${hashOf(texts.join('\0'))}-${process.platform}-${process.arch}`
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)

async function build(cache: Cache, go: string, dir: string): Promise<void> {
  cache.log('building Helm 4, Helm 3 and helm-unittest with Go: once, and some minutes')
  for (const [name, path] of Object.entries(GO_PROGRAMS)) {
    const args = ['build', '-trimpath', '-ldflags=-s -w', '-o', join(dir, name), path]
    await install(cache, `go build ${name}`, { command: go, args, cwd: here })
  }
}

async function pipInstall(cache: Cache, python: string, dir: string): Promise<void> {
  cache.log('installing kubernetes-validate from PyPI')
  const quiet = ['-q', '--disable-pip-version-check', '--no-input', '--root-user-action=ignore']
  const wanted = ['--only-binary', ':all:', '--target', dir, '--require-hashes', '-r', join(here, 'requirements.txt')]
  const program = { command: python, args: ['-m', 'pip', 'install', ...quiet, ...wanted] }
  await install(cache, 'pip install kubernetes-validate', program)
}

/** The modules contain the definitions as they are installed into clusters. */
async function fetchDefinitions(go: string, dir: string): Promise<void> {
  for (const [module, path] of Object.entries(DEFINITIONS)) {
    const { stdout } = await run(go, ['mod', 'download', '-json', module.replace(/#.*/, '')], { cwd: here })
    const { Dir: folder, Error: error } = JSON.parse(stdout) as { Dir?: string; Error?: string }
    if (!folder) throw new Problem(`${module} cannot be fetched: ${error}`)
    await copyFile(join(folder, path), join(dir, path.replace(/.*\//, '')))
  }
}
