import maxmind, { type CountryResponse } from 'maxmind'

/** Returns the ISO 3166-1 code of an address's country, or null if it is unknown. */
export type CountryOf = (address: string) => string | null

/** Opens a MaxMind database with countries. @throws {Error} if the file is not one */
export async function openCountries(file: string): Promise<CountryOf> {
  const database = await maxmind.open<CountryResponse>(file)
  return address => (maxmind.validate(address) ? (database.get(address)?.country?.iso_code ?? null) : null)
}
