import { writeFileSync } from 'node:fs'
import { type Example, type Examples, examplesFile } from '@rollcall/contract'

const MINUTE_MS = 60_000
/** Times further away were not made during the run. */
const YEAR_MINUTES = 365 * 24 * 60
/** The time that the examples show as now. */
const NOW = Date.parse('2026-03-02T09:15:00.000Z')
/** Records of an array that are kept: of a page, and elsewhere. */
const KEPT = { docs: 2, other: 4 }
const LINES = 4
/** Values that differ between runs, by the name of their field. */
const CONSTANTS: Readonly<Record<string, unknown>> = {
  client_id: '9b2f4c0d8e7a41f6a3c5d7e9b1f20486',
  client_id_issued_at: NOW / 1000,
  expires_in: 3600,
  durationMs: 180,
  rowsPerSecond: 6,
  code: '407713',
  port: 587,
}
/** Texts that differ between runs. */
const VARYING: readonly [pattern: RegExp, constant: string][] = [
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl'],
  [/\b[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\b/g, '7d0f4a52-6c1e-4b8a-9a37-2f5d8c3e1b06'],
  [/\bp=[\w+/]{40,}=*/g, 'p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'],
  [/\bhttps?:\/\/(localhost|127\.0\.0\.1):\d+/g, 'https://rollcall.example.com'],
  [/\bhttp%3A%2F%2Flocalhost%3A\d+/g, 'https%3A%2F%2Frollcall.example.com'],
  [/\bwhsec_[\w+/]{43}=/g, 'whsec_c2VjcmV0LXRoYXQtb25seS10aGUtYW5zd2VyLWhhcw=='],
  [/\bv1,[\w+/]{43}=/g, 'v1,c2lnbmF0dXJl'],
  // A secret: letters of both cases and digits.
  [/(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{30,}/g, 'c2VjcmV0LXRoYXQtb25seS10aGUtYW5zd2VyLWhhcw'],
  [/\b[A-Z2-7]{32}\b/g, 'ROLLCALLEXAMPLESECRETOFBASE32XYZ'],
  [/\b[a-z2-7]{4}(-[a-z2-7]{4}){3}\b/g, 'abcd-efgh-ijkl-mnop'],
  [/^localhost$/g, 'smtp.example.com'],
  [/[\w-]{4}\*{4,}[\w-]{4}/g, 'aB3d********xY9z'],
  [/\b(sam|guest|sender|person)-\d+(?=@|%40)/g, '$1'],
  [/\b198\.1[89]\.\d+\.\d+\b/g, '198.51.100.7'],
]

/** Records an example of each call, and writes them for the reference. */
export function startRecorder() {
  const startedAt = Date.now()
  const recorded = new Map<string, Example>()
  return {
    note: (call: string, example: Example) => void recorded.set(call, structuredClone(example)),
    /** Returns the examples so far, without what differs between runs. */
    examples: () => settled(Object.fromEntries([...recorded].sort()), startedAt),
    write: (examples: Examples) => writeFileSync(examplesFile, `${JSON.stringify(examples, null, 2)}\n`),
  }
}

/** Replaces ids, times, secrets and addresses by constant ones, and shortens arrays of records, and files. */
function settled(examples: Examples, startedAt: number): Examples {
  const ids = new Map<string, string>()
  const numbered = (id: string) => {
    if (!ids.has(id)) ids.set(id, `69a55e14c0ffee000000${String(ids.size + 1).padStart(4, '0')}`)
    return ids.get(id)!
  }
  const moved = (time: string) => {
    const minutes = Math.round((Date.parse(time) - startedAt) / MINUTE_MS)
    return minutes > YEAR_MINUTES ? time : new Date(NOW + Math.max(minutes, 0) * MINUTE_MS).toISOString()
  }
  const constant = (text: string) =>
    VARYING.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text)
      .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, moved)
      .replace(/\b[0-9a-f]{24}\b/g, numbered)
  return JSON.parse(JSON.stringify(examples), (name, value) => {
    if (name in CONSTANTS && value !== null) return CONSTANTS[name]
    if (typeof value === 'string') return constant(value.includes('\r\n') ? firstLines(value) : value)
    const isRecords = Array.isArray(value) && typeof value[0] === 'object'
    return isRecords ? value.slice(0, name === 'docs' ? KEPT.docs : KEPT.other) : value
  })
}

function firstLines(file: string): string {
  return file.split('\r\n').slice(0, LINES).join('\r\n')
}

/**
 * Returns where the shapes of two values differ: fields that only one has, and other types. null and empty arrays match
 * anything, since they depend on what else happened.
 */
export function differences(one: unknown, other: unknown, at: string): string[] {
  if (one === null || other === null) return []
  if (typeof one !== typeof other || Array.isArray(one) !== Array.isArray(other)) return [at]
  if (typeof one !== 'object' || typeof other !== 'object') return []
  const fields = new Set([...Object.keys(one), ...Object.keys(other)])
  const shared = Array.isArray(one) ? [...fields].filter(name => name in one && name in other) : [...fields]
  return shared.flatMap(name =>
    differences(one[name as keyof typeof one], other[name as keyof typeof other], `${at}.${name}`),
  )
}
