import type { ReactNode } from 'react'
import classes from './status-chip.module.css'

export type Tone = 'neutral' | 'info' | 'good' | 'warn' | 'bad'

/** A state: a dot and a word. */
export function StatusChip({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={classes.chip} data-tone={tone}>
      {children}
    </span>
  )
}

/** A short label without a state: a tag, a kind. */
export function Tag({ children }: { children: ReactNode }) {
  return <span className={classes.tag}>{children}</span>
}
