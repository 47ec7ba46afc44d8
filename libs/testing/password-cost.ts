/** Parameters of argon2 that make password hashes cheap: tests compute hundreds. */
export const PASSWORD_COST = { memoryCost: 64, timeCost: 1, parallelism: 1 }
