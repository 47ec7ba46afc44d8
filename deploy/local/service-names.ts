/** The services in the order in which they need each other: started so, stopped the other way round. */
export const SERVICES = ['identity', 'audience', 'messaging', 'import', 'gateway'] as const

/** The name of a service, and of its folder. */
export type ServiceName = (typeof SERVICES)[number]
