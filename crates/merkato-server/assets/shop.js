// What makes the shop quicker for those who run scripts. Everything works without it.
"use strict";
