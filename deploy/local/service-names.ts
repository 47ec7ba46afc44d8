/** Every service, by its folder, in order of dependency: started in this order, stopped in reverse. */
export const SERVICES = [
  'identity',
  'audience',
  'messaging',
  'campaigns',
  'import',
  'webhooks',
  'content',
  'gateway',
] as const

/** The name of a service, and of its folder. */
export type ServiceName = (typeof SERVICES)[number]
