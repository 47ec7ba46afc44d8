/** The same keys as a catalog, with any text. */
export type Translation<Catalog> = {
  -readonly [Key in keyof Catalog]: Catalog[Key] extends string ? string : Translation<Catalog[Key]>
}
