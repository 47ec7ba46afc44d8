import type { EventTypeDescription } from '@rollcall/sdk'

/** Types of events about one kind of record. */
export type EventGroup = { name: string; types: Pick<EventTypeDescription, 'type' | 'description'>[] }

/** Groups types by what stands before their last dot, and keeps those that contain a text. */
export function groupsOf(types: readonly EventGroup['types'][number][], text = ''): EventGroup[] {
  const groups = new Map<string, EventGroup>()
  const wanted = text.trim().toLowerCase()
  for (const { type, description } of types) {
    if (!`${type} ${description}`.toLowerCase().includes(wanted)) continue
    const name = type.slice(0, type.lastIndexOf('.'))
    const group = groups.get(name) ?? { name, types: [] }
    group.types.push({ type, description })
    groups.set(name, group)
  }
  return [...groups.values()]
}

/** Returns the chosen types with some of them added or removed. */
export function withTypes(chosen: readonly string[], some: readonly string[], isOn: boolean): string[] {
  const others = chosen.filter(type => !some.includes(type))
  return isOn ? [...others, ...some].sort() : others
}
