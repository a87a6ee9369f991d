import { baremetalSubject } from "./baremetal-subject.ts";
import { openStackSubject } from "./openstack-subject.ts";
import type { Subject } from "./subject.ts";
import { subjects } from "./subjects.ts";

/** Every provider that has a published report, in the order of the index; the suite `languages` runs the kit on those of `subjects` alone. */
export const everySubject: readonly Subject[] = [...subjects, baremetalSubject, openStackSubject];
