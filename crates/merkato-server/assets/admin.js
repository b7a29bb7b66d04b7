// What makes the office quicker for those who run scripts. Everything works without it.
"use strict";
