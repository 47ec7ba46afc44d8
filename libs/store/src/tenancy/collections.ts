import type { ClientSession, Model, QueryFilter, Schema, Types } from 'mongoose'
import type { Store } from './connection.ts'
import { objectId, type Scope, scoped } from './scope.ts'

/** The collections of a service. `R` holds the record of each, by the collection's key. */
export type Collections<R extends object> = {
  /**
   * Returns the collections of one organization. With `tx`, every operation belongs to that transaction.
   * @throws {AppError} request.invalid_field for a malformed id
   */
  of(organization: string | Types.ObjectId, tx?: ClientSession): Scopes<R>
  /**
   * The models, for what is not about one organization: every use is a query without the tenant clause. They join a
   * transaction by `{ session: tx }`.
   */
  readonly unscoped: { readonly [K in keyof R]: Unscoped<R[K]> }
}

type InTransaction = { session?: ClientSession }

/** A model. Mongoose accepts any option of these operations; here only those that it reads. */
export type Unscoped<T> = Omit<Model<T>, 'countDocuments' | 'deleteOne' | 'deleteMany' | 'replaceOne'> & {
  countDocuments(filter?: QueryFilter<T>, options?: InTransaction & { limit?: number }): Promise<number>
  deleteOne(filter: QueryFilter<T>, options?: InTransaction): Promise<{ deletedCount: number }>
  deleteMany(filter: QueryFilter<T>, options?: InTransaction): Promise<{ deletedCount: number }>
}

// `{ tx }` is an option of scopes. Mongoose would ignore it, and run outside of the transaction.
declare module 'mongoose' {
  interface QueryOptions {
    tx?: never
  }
  interface AggregateOptions {
    tx?: never
  }
}

/** The collections of one organization: those whose records have one. */
export type Scopes<R extends object> = {
  readonly [K in keyof R as R[K] extends { organization: Types.ObjectId } ? K : never]: Scope<R[K]>
}

/** Declares the collections of a service, once and for any store. A model bears the collection's key as its name. */
export type DefinedCollections<R extends object> = (store: Pick<Store, 'model'>) => Collections<R>

/**
 * Defines the collections of a service by the schema of each: `defineCollections({ contacts: contactSchema })`. What it
 * returns declares them in a store.
 */
export function defineCollections<R extends object>(
  schemas: {
    readonly [K in keyof R]: Schema<R[K]>
  },
): DefinedCollections<R> {
  return store => {
    const models = Object.entries<Schema>(schemas).map(([key, schema]) => [key, store.model(key, schema)] as const)
    const view = lazyView(models)
    return {
      unscoped: Object.fromEntries(models) as unknown as Collections<R>['unscoped'],
      of: (organization, tx) => view(objectId(organization, 'organization'), tx) as Scopes<R>,
    }
  }
}

/** Makes the scope of a collection when it is first used: a handler has many collections and uses one or two. */
function lazyView(models: readonly (readonly [string, Model<unknown>])[]) {
  class View {
    readonly #made: Record<string, Scope<unknown>> = {}
    readonly #organization: Types.ObjectId
    readonly #tx: ClientSession | undefined

    constructor(organization: Types.ObjectId, tx: ClientSession | undefined) {
      this.#organization = organization
      this.#tx = tx
    }

    scope(key: string, model: Model<unknown>): Scope<unknown> {
      this.#made[key] ??= scoped(model, this.#organization, this.#tx)
      return this.#made[key]
    }
  }
  for (const [key, model] of models) {
    const get = function (this: View) {
      return this.scope(key, model)
    }
    Object.defineProperty(View.prototype, key, { get })
  }
  return (organization: Types.ObjectId, tx?: ClientSession): object => new View(organization, tx)
}
