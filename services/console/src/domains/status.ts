import type { Domain } from '@rollcall/sdk'
import type { Tone } from '../kit/status-chip.tsx'

export const TONES: Record<Domain['status'], Tone> = { pending: 'warn', verified: 'good', degraded: 'bad' }
