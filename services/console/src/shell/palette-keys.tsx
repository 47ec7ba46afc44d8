import { Kbd } from '@mantine/core'
import { useOs } from '@mantine/hooks'
import classes from './shell.module.css'

/** The keys that open the palette, as this system writes them. */
export function PaletteKeys() {
  return (
    <span className={classes.keys} aria-hidden>
      <Kbd size="xs">{useModifierName()}</Kbd> <Kbd size="xs">{PALETTE_KEY}</Kbd>
    </span>
  )
}

/** Returns what the key for commands is called here. */
export function useModifierName(): string {
  const os = useOs()
  return os === 'macos' || os === 'ios' ? '⌘' : 'Ctrl'
}

const PALETTE_KEY = 'K'
