/** Something that the palette offers. */
export type Command = {
  key: string
  label: string
  /** Tells records of one name apart. */
  detail?: string
  run: () => void
}

/** Returns the commands whose label has every word of the text; those that begin with the text first. */
export function matching<C extends Command>(commands: readonly C[], text: string): C[] {
  const words = folded(text).split(/\s+/).filter(Boolean)
  const whole = words.join(' ')
  const hits = commands.filter(({ label }) => words.every(word => folded(label).includes(word)))
  return hits.toSorted((a, b) => rank(a, whole) - rank(b, whole))
}

function rank({ label }: Command, text: string): number {
  return folded(label).startsWith(text) ? 0 : 1
}

/** Lower case, without accents. */
function folded(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}
