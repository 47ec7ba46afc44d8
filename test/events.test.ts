import assert from 'node:assert/strict'
import { relative, resolve, sep } from 'node:path'
import { after, describe, it } from 'node:test'
import { type EventType, subjectKindOf } from '@rollcall/contract'
import { eventContexts } from '@rollcall/protos/gen/events.ts'
import {
  isStringLiteral,
  isTemplateExpression,
  type Node,
  type SourceFile,
  type TemplateExpression,
} from 'typescript/unstable/ast'
import { API, type Checker, type Type } from 'typescript/unstable/sync'
import words from '../services/console/src/events/en.ts'

/**
 * Finds the events that the sources publish, by the compiler's types: a string counts where an event's type is
 * expected, in the service that the event belongs to. Function names prove nothing, and a test run may not publish all
 * events.
 */

const declared = new Map<string, string>(Object.entries(eventContexts))
const root = resolve(import.meta.dirname, '..')
const compiler = new API({ cwd: root })
const configFile = resolve(import.meta.dirname, 'events.tsconfig.json')

function publishedTypes(): Set<string> {
  const project = compiler.updateSnapshot({ openProjects: [configFile] }).getProject(configFile)!
  const published = project.program.getSourceFileNames().flatMap(name => {
    const service = serviceOf(name)
    if (service === undefined) return []
    const types = typesIn(project.program.getSourceFile(name)!, project.checker)
    return types.filter(type => declared.get(type) === service)
  })
  return new Set(published)
}

/** Returns the service of a source file; undefined for tests, libraries and packages. */
function serviceOf(name: string): string | undefined {
  const [services, service, folder] = relative(root, name).split(sep)
  return services === 'services' && folder === 'src' && !name.endsWith('.test.ts') ? service : undefined
}

/** Returns the event types in a file. A type that is passed on counts where it is written. */
function typesIn(file: SourceFile, checker: Checker): string[] {
  const found: string[] = []
  const visit = (node: Node): void => {
    if (isStringLiteral(node) && declared.has(node.text) && isEventType(checker.getContextualType(node), checker))
      found.push(node.text)
    else if (isTemplateExpression(node) && canBeDeclared(node) && isEventType(checker.getContextualType(node), checker))
      found.push(...(textsOf(checker.getTypeAtLocation(node), checker) ?? []))
    node.forEachChild(visit)
  }
  visit(file)
  return found
}

/** Whether a template begins and ends like a declared type. Saves most questions to the compiler, which take long. */
function canBeDeclared({ head, templateSpans }: TemplateExpression): boolean {
  const end = templateSpans.at(-1)!.literal.text
  return [...declared.keys()].some(type => type.startsWith(head.text) && type.endsWith(end))
}

/** Whether a type allows only types of events. */
function isEventType(type: Type | undefined, checker: Checker): boolean {
  return textsOf(type, checker)?.every(text => declared.has(text)) ?? false
}

/** Returns the strings that a type allows; undefined if it allows anything else. */
function textsOf(type: Type | undefined, checker: Checker): string[] | undefined {
  if (type?.isTypeParameter()) return textsOf(checker.getConstraintOfTypeParameter(type), checker)
  if (type?.isStringLiteralType()) return [type.value]
  if (!type?.isUnionType()) return undefined
  const texts = type.getTypes().map(each => textsOf(each, checker))
  return texts.includes(undefined) ? undefined : texts.flatMap(each => each ?? [])
}

describe('declared events', () => {
  after(() => compiler.close())

  it('are each published by the service that declares them', () => {
    const published = publishedTypes()
    assert.deepEqual(
      [...declared.keys()].filter(type => !published.has(type)),
      [],
    )
  })

  it('are about kinds of records that the console names', () => {
    const kinds = new Set((Object.keys(eventContexts) as EventType[]).map(subjectKindOf))
    assert.deepEqual([...kinds].sort(), Object.keys(words.kinds).sort())
  })
})
