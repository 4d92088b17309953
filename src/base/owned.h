/* An object that a lower room owns without knowing its type: its first member is the function that
 * releases it. */
#ifndef EF_BASE_OWNED_H
#define EF_BASE_OWNED_H

typedef struct ef_owned {
    void (*end)(struct ef_owned *self); /* gives up the owner's reference */
} ef_owned;
#endif
