/** Drops the database of a test, unless its server ends with the test run (DISPOSABLE_MONGODB). */
export async function dropDatabase(database: { dropDatabase(): Promise<unknown> }): Promise<void> {
  if (process.env.DISPOSABLE_MONGODB !== 'true') await database.dropDatabase()
}
