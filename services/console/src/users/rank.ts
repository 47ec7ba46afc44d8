const RANKS = ['owner', 'admin']

/** Whether a role has a higher rank than another: owner, then admin, then all others. */
export function outranks(role: string, other: string): boolean {
  const rankOf = (name: string) => (RANKS.includes(name) ? RANKS.indexOf(name) : RANKS.length)
  return rankOf(role) < rankOf(other)
}
