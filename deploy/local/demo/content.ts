import type { Client } from '@rollcall/sdk'
import { ALL, addMissing } from './missing.ts'
import { BROWSER, personAt } from './people.ts'

const SUBMISSIONS = 6
const COURSES = ['Baking', 'Boat building', 'Map making']

/** Adds short links, and follows them as people do. */
export function addLinks({ links }: Client): Promise<void> {
  const wanted = [
    { title: 'Autumn catalogue', url: 'https://example.com/catalogue/autumn?utm_source=letter', visits: 9 },
    { title: 'Stand at the fair', url: 'https://example.com/fair/stand-12', visits: 4 },
    { title: 'Winter sale', url: 'https://example.com/sale', visits: 0 },
  ]
  return addMissing(links.list(ALL), 'title', wanted, async ({ visits, ...body }) => {
    const { shortUrl } = await links.create(body)
    for (let visit = 0; visit < visits; visit++)
      await fetch(shortUrl, { redirect: 'manual', headers: { 'user-agent': BROWSER } })
  })
}

/** Adds a collection whose public form makes contacts, and some submissions of it. */
export async function addCollections({ collections }: Client, baseUrl: string): Promise<void> {
  const body = {
    name: 'Course sign-ups',
    slug: 'course-sign-ups',
    description: 'From the web site',
    fields: [
      { slug: 'name', name: 'Name', type: 'string' as const, required: true },
      { slug: 'email', name: 'Email', type: 'email' as const, required: true },
      { slug: 'course', name: 'Course', type: 'enum' as const, options: COURSES },
      { slug: 'question', name: 'Question', type: 'text' as const },
    ],
    form: {
      title: 'Sign up for a course',
      submitLabel: 'Sign up',
      contact: { email: 'email', name: 'name', tags: ['course'] },
    },
  }
  await addMissing(collections.list(ALL), 'slug', [body], async each => {
    const { id } = await collections.create(each)
    for (let number = 0; number < SUBMISSIONS; number++) {
      const { name, email } = personAt(80_000 + number)
      const values = { name, email, course: COURSES[number % COURSES.length] }
      await fetch(`${baseUrl}/api/forms/${id}/submit`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...values, ...(number === 2 && { question: 'Is there a course in spring?' }) }),
      })
    }
  })
}
