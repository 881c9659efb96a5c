// Counts the bytes that work in progress holds in memory. A process refuses work above the limit instead of
// running out of memory.

export interface ByteShare {
  /** Returns whether `bytes` more fit into the budget. */
  fits(bytes: number): boolean;
  /** Counts `bytes` as held. @returns false when the budget does not allow it; nothing is counted then */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export interface ByteBudget {
  /**
   * Returns a share for one owner, at most half of the budget; the other half stays available to other owners.
   */
  share(): ByteShare;
}

export function createByteBudget(most: number): ByteBudget {
  let held = 0;
  return {
    share() {
      let own = 0;
      const fits = (bytes: number): boolean => own + bytes <= most / 2 && held + bytes <= most;
      return {
        fits,
        take(bytes) {
          if (!fits(bytes)) return false;
          own += bytes;
          held += bytes;
          return true;
        },
        give(bytes) {
          own -= bytes;
          held -= bytes;
        },
      };
    },
  };
}
