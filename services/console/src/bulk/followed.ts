/** Ids of the jobs that a sheet shows at the moment: nobody else needs to say that they are finished. */
export const followed = new Set<string>()
