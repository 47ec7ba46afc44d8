import type { Route } from './routes.ts'

type Node = { literals: Map<string, Node>; variable: Node | undefined; routes: Map<string, Bound> }
type Bound = { route: Route; names: string[] }

/** A matched route with the values of its path variables. */
export type Match = { route: Route; params: Record<string, string> }

/**
 * Compiles routes into a trie of path segments, so a match does not depend on the number of routes. Literal segments
 * take precedence over variables.
 * @returns a function of verb and path (without query); HEAD matches GET; undefined if no route matches
 */
export function compileMatcher(routes: readonly Route[]): (verb: string, path: string) => Match | undefined {
  const root = newNode()
  for (const route of routes) insert(root, route)
  return (verb, path) => {
    const values: string[] = []
    const segments = path.split('/')
    const bound = find(
      root,
      segments,
      segments.at(-1) === '' ? segments.length - 1 : segments.length,
      1,
      verb === 'HEAD' ? 'GET' : verb,
      values,
    )
    if (!bound) return undefined
    const params: Record<string, string> = {}
    for (const [index, name] of bound.names.entries()) params[name] = decode(values[index]!)
    return { route: bound.route, params }
  }
}

function newNode(): Node {
  return { literals: new Map(), variable: undefined, routes: new Map() }
}

function insert(root: Node, route: Route): void {
  let node = root
  const names: string[] = []
  for (const segment of route.path.split('/').slice(1)) {
    if (segment.startsWith(':')) {
      names.push(segment.slice(1))
      node.variable ??= newNode()
      node = node.variable
    } else {
      const next = node.literals.get(segment) ?? newNode()
      node.literals.set(segment, next)
      node = next
    }
  }
  node.routes.set(route.verb, { route, names })
}

function find(
  node: Node,
  segments: string[],
  end: number,
  at: number,
  verb: string,
  values: string[],
): Bound | undefined {
  if (at >= end) return node.routes.get(verb)
  const segment = segments[at]!
  const literal = node.literals.get(segment)
  const found = literal && find(literal, segments, end, at + 1, verb, values)
  if (found || !node.variable || segment === '') return found
  values.push(segment)
  const bound = find(node.variable, segments, end, at + 1, verb, values)
  if (!bound) values.pop()
  return bound
}

/** Percent-decodes without throwing: a malformed escape stays as it is and fails the field's check. */
function decode(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
