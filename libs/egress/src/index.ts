export {
  type AddressPolicy,
  type CheckedHost,
  canonicalHost,
  checkHost,
  isOutside,
  type Resolve,
  resolveHost,
  UnsafeHost,
} from './checked-host.ts'
export { createPoster, type Poster, type PostRequest, type PostResponse } from './post.ts'
export { isPublicAddress } from './public-address.ts'
