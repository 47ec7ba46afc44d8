import { AppError, isObjectId, toAppError } from '@rollcall/contract'
import { redirectTo } from '@rollcall/pages'
import type { PageRequest, PageResponse } from '@rollcall/protos/gen/types.ts'
import type { Handlers } from '@rollcall/rpc'
import { addEvents, event, toStoreError } from '@rollcall/store'
import type { Collection } from '../collections/collection.model.ts'
import { queueOf } from '../collections/collections.ts'
import type { Context } from '../context.ts'
import { addEntry } from '../entries/add-entry.ts'
import { addSignUp } from './add-sign-up.ts'
import { confirm, showConfirmation } from './confirm.ts'
import type { Form } from './form.ts'
import { formPage, type Rejection, thanksPage } from './form-page.ts'
import { readSubmission, type Submission } from './submission.ts'
import { texts } from './texts.ts'

type FormCollection = Collection & { form: Form }
type Language = PageRequest['language']

const SUBMITTER = { kind: 'system', id: null, name: 'form' } as const
const pathOf = (slug: string) => slug

/** Handlers of public forms. */
export const forms = (context: Context): Handlers<'rollcall.content.v1.Forms'> => ({
  showForm: async ({ key, language }) => formPage(await findForm(context, key, 'page.not_found'), language),
  submitForm: request => submitForm(context, request),
  checkFormOrigin: ({ id, origin }) => checkFormOrigin(context, id, origin),
  showConfirmation: request => showConfirmation(context, request),
  confirm: (request, call) => confirm(context, request, call),
})

async function submitForm(context: Context, request: PageRequest): Promise<PageResponse> {
  const { key, language, origin } = request
  const collection = await findForm(context, key, 'form.not_found')
  requireOrigin(context, collection.form, origin)
  const submission = await readSubmission(request, collection.fields)
  if (!submission.isTrapped) {
    const rejection = await store(context, collection, submission, language)
    if (rejection) return formPage(collection, language, rejection)
  }
  return accepted(collection, submission, language)
}

/** Stores a submission. Returns why it is rejected if a browser's form can show it. @throws {AppError} otherwise */
async function store(
  context: Context,
  collection: FormCollection,
  { given, form }: Submission,
  language: Language,
): Promise<Rejection | undefined> {
  const { _id, organization, fields } = collection
  try {
    await context.store.transaction(
      async tx => {
        const tenant = context.collections.of(organization, tx)
        // Returns the collection as it is now: its form may have changed while this transaction waited.
        const { entry, collection: current } = await addEntry(
          context,
          tenant,
          _id,
          { given, source: 'form', createdBy: SUBMITTER, pathOf },
          tx,
        )
        if (!current.form?.enabled) throw new AppError('form.not_found')
        const data = { collectionId: _id, entryId: entry._id, at: entry.createdAt }
        await addSignUp(tenant, current, entry, language)
        await addEvents(tx, [event('form.submitted', { _id, organization }, data)])
      },
      { queue: queueOf(String(_id)) },
    )
    context.signUpJob.wake()
    return undefined
  } catch (thrown) {
    const error = toAppError(thrown)
    const slug = 'path' in error.details ? String(error.details.path) : undefined
    const field = fields.find(each => each.slug === slug)
    if (!form || !field) throw thrown
    const { missing, duplicate, invalidOf } = texts[language]
    const reasons: Partial<Record<string, string>> = {
      'request.missing_field': missing,
      'record.duplicate': duplicate,
      'request.invalid_field': invalidOf[field.type],
    }
    const text = reasons[error.code]
    if (text === undefined) throw thrown
    return { given: form, slug: field.slug, text, status: error.status }
  }
}

/** Returns what a client gets whose submission was accepted, or seems to be. */
function accepted(collection: FormCollection, { form }: Submission, language: Language): PageResponse {
  const { redirectUrl } = collection.form
  if (!form) {
    const data = Buffer.from(JSON.stringify({ success: true, message: 'submitted' }))
    return { status: 201, contentType: 'application/json; charset=utf-8', data }
  }
  return redirectUrl === null ? thanksPage(collection, language) : redirectTo(redirectUrl, 303)
}

/** Returns the collection of an enabled form. @throws {AppError} of the given code */
async function findForm(
  { collections }: Context,
  id: string,
  code: 'page.not_found' | 'form.not_found',
): Promise<FormCollection> {
  const collection = isObjectId(id) ? await findById(collections, id) : null
  if (!collection?.form?.enabled) throw new AppError(code)
  return { ...collection, form: collection.form }
}

async function findById({ unscoped }: Context['collections'], _id: string): Promise<Collection | null> {
  try {
    return await unscoped.collections.findOne({ _id }).lean<Collection>()
  } catch (error) {
    throw toStoreError(error)
  }
}

/** Refuses pages of other origins. Programs that are no browsers send no origin. @throws {AppError} form.origin_refused */
function requireOrigin({ config }: Context, { allowedOrigins }: Form, origin: string): void {
  const isAllowed = origin === '' || origin === new URL(config.PUBLIC_URL).origin || allowedOrigins.includes(origin)
  if (!isAllowed) throw new AppError('form.origin_refused')
}

/** Returns whether scripts of an origin may submit a form and read the answer. A form that is not shown allows none. */
async function checkFormOrigin({ collections }: Context, id: string, origin: string): Promise<{ allowed: boolean }> {
  const form = isObjectId(id) ? (await findById(collections, id))?.form : undefined
  return { allowed: form?.enabled === true && form.allowedOrigins.includes(origin) }
}
